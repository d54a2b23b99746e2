import { createExtractor, type ExtractedRow } from '../../../src/store-kit/index/extract.js'
import { maxStoredBytes } from '../../../src/store-kit/index/index-bounds.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { createDamageReporter } from '../../../src/store/damage.js'
import type { IndexStore, UnsealedRows } from '../../../src/store-kit/maintenance/index-store.js'
import { addInTurns, UNREADABLE_ROW } from '../../../src/store-kit/maintenance/repairs.js'
import { collectUnsealed } from '../../../src/store-kit/maintenance/unsealed-rows.js'
import type { Connection } from '../connection/connection.js'
import { createEventReader } from '../schema/events.js'
import { type ReadRow, readAfter } from '../schema/read-after.js'
import { DIALECT } from './dialect.js'
import type { DriverContext } from './driver-context.js'
import { forgetBytes, isFullOfBytes, isSealDue } from './due.js'

// Events that are removed before they are sealed stay in the count of unsealed events.
const CORRECT_COUNT = `UPDATE daybook_index SET sealed = (SELECT appended FROM daybook_high_water)
  - (SELECT count(*) FROM daybook_late WHERE created_at <= sealed_to)
  - (SELECT count(*) FROM daybook_events WHERE created_at > sealed_to)`

const EXISTS = 'SELECT 1 FROM daybook_events WHERE created_at = ?'

function toExtracted({ time, row }: ReadRow): ExtractedRow {
  if (!row) return { time, ...UNREADABLE_ROW }
  const { type, username, system, source, attributes } = row
  return { time, type, username, system: system === 1, source, attributes }
}

// The store's own connection reports events that cannot be read.
const readerOn = (connection: Connection) => createEventReader(connection, createDamageReporter())

/** See `IndexStore.readEvents`. */
export const readEvents = (
  connection: Connection,
  [after, to]: readonly [after: Microseconds, to: Microseconds],
  max: number,
): readonly ExtractedRow[] =>
  readAfter({ connection, events: readerOn(connection) }, after, max)
    .filter(({ time }) => time <= to)
    .map(toExtracted)

function eventsAt(connection: Connection, times: readonly Microseconds[]): readonly ExtractedRow[] {
  const events = readerOn(connection)
  return times
    .filter((time) => connection.statement(EXISTS).get(time))
    .map((time) => toExtracted({ time, row: events.at(time) }))
}

/** See `IndexStore.readUnsealed`. */
export async function readUnsealed(
  { connection, steps, write, bounds }: DriverContext,
  { read, readEvents: readNext }: Pick<IndexStore, 'read' | 'readEvents'>,
  size: number,
  atLeast: number,
): Promise<UnsealedRows | undefined> {
  if (!isSealDue(connection, atLeast, bounds)) return undefined
  const extractor = createExtractor(bounds)
  const rows = await collectUnsealed(
    DIALECT,
    {
      read,
      readEvents: readNext,
      async eventsAt(times) {
        const found = eventsAt(connection, times)
        await steps.pause()
        return found
      },
      async isEnough(unsealed) {
        if (unsealed === 0) forgetBytes(connection)
        if (unsealed >= atLeast || isFullOfBytes(connection, maxStoredBytes(bounds))) return true
        await write(() => void connection.statement(CORRECT_COUNT).run())
        return false
      },
      add: (row) => addInTurns(extractor, row, steps),
      isFull: () => extractor.bytes >= bounds.bytes,
    },
    size,
  )
  return rows && { ...rows, extract: extractor.extract() }
}
