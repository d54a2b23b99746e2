import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ExcessEvents, KeptBounds, WaitOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { runTimeSlice } from '../connection/time-slice.js'
import { packedBytes } from '../schema/packed-rows.js'

// Rows that are counted between two checks of the time.
const STEP_ROWS = 1000

// The value itself if it is packed.
const BYTES = 'iif(octet_length(attributes) > 0, length(CAST(json(attributes) AS BLOB)), packed)'

const COUNT = `SELECT count(*) AS count, min(created_at) AS oldest FROM
  (SELECT created_at FROM daybook_events WHERE created_at < ? ORDER BY created_at DESC LIMIT ${STEP_ROWS})`

interface SizedRow {
  readonly created_at: Microseconds
  readonly bytes: number | Uint8Array | null
}

const bytesOf = ({ bytes }: SizedRow): number =>
  typeof bytes === 'number' ? bytes : bytes === null ? 0 : packedBytes(bytes)

/** Implements `EventStore.excess`. Walks from the newest event to the oldest. */
export async function findExcess(
  connection: Connection,
  bounds: KeptBounds,
  options: WaitOptions,
): Promise<ExcessEvents> {
  const walk = async (step: (isOver: () => boolean) => boolean): Promise<void> => {
    while (await connection.retry(() => runTimeSlice(step), options)) await nextTurn()
  }

  const before = Math.max(bounds.from ?? 0, await beforeKept(connection, bounds, walk))
  let count = 0
  let rest = before
  await walk(() => {
    const row = connection.statement(COUNT).get(rest) as {
      readonly count: number
      readonly oldest: Microseconds | null
    }
    count += row.count
    rest = row.oldest ?? rest
    return row.count === STEP_ROWS
  })
  return { before, count }
}

/**
 * Returns the time of the oldest event that `rows` and `bytes` keep. If they keep no event, it is just
 * after the newest; if they keep all, it is 0.
 */
async function beforeKept(
  connection: Connection,
  { rows = Infinity, bytes = Infinity }: KeptBounds,
  walk: (step: (isOver: () => boolean) => boolean) => Promise<void>,
): Promise<Microseconds> {
  if (rows === Infinity && bytes === Infinity) return 0
  const size = bytes === Infinity ? '0' : BYTES
  const text = `SELECT created_at, ${size} AS bytes FROM daybook_events WHERE created_at < ? ORDER BY created_at DESC`
  let [rowsLeft, bytesLeft] = [rows, bytes]
  let oldest = Number.MAX_SAFE_INTEGER
  let before: Microseconds | undefined
  await walk((isOver) => {
    const found = connection.statement(text).iterate(oldest)
    for (const row of found as IterableIterator<SizedRow>) {
      rowsLeft -= 1
      bytesLeft -= bytesOf(row)
      if (rowsLeft < 0 || bytesLeft < 0) {
        before = oldest === Number.MAX_SAFE_INTEGER ? row.created_at + 1 : oldest
        return false
      }
      oldest = row.created_at
      if (isOver()) return true
    }
    return false
  })
  return before ?? 0
}
