import type { Connection } from './connection.js'
import { runTimeSlice, WRITE_SLICE_MS } from './time-slice.js'

// Free pages between two checks of the time.
const STEP_PAGES = 4
// The value of `PRAGMA auto_vacuum` for INCREMENTAL.
const INCREMENTAL = 2

const readPragma = ({ database }: Connection, name: string): number =>
  database.pragma(name, { simple: true }) as number

/** True if the file can give pages back to the file system. */
export const hasFreePages = (connection: Connection): boolean =>
  readPragma(connection, 'auto_vacuum') === INCREMENTAL &&
  readPragma(connection, 'freelist_count') > 0

/**
 * Returns some of the free pages to the file system if the file has incremental vacuum. Returns true if there are
 * more. Call it within a write transaction.
 */
export function releaseSomePages(connection: Connection): boolean {
  if (!hasFreePages(connection)) return false
  return runTimeSlice(
    () => {
      // Each step of the statement releases one page; `pragma` runs it to its end.
      connection.database.pragma(`incremental_vacuum(${STEP_PAGES})`)
      return readPragma(connection, 'freelist_count') > 0
    },
    { ms: WRITE_SLICE_MS },
  )
}
