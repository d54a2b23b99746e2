import { createExtractor, type ExtractedRow } from '../../../src/store-kit/index/extract.js'
import { maxStoredBytes } from '../../../src/store-kit/index/index-bounds.js'
import type { UnsealedRows } from '../../../src/store-kit/maintenance/index-store.js'
import { addInTurns, UNREADABLE_ROW } from '../../../src/store-kit/maintenance/repairs.js'
import type { Connection } from '../connection/connection.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { createDamageReporter } from '../../../src/store/damage.js'
import { createEventReader, checkRow } from '../schema/events.js'
import { type ReadRow, readAfter } from '../schema/read-after.js'
import type { DriverContext } from './driver-context.js'
import { forgetBytes, isFullOfBytes, isSealDue } from './due.js'
import { LIMIT } from '../connection/limit.js'

/** The state of the index when sealing begins. */
interface SealingStart {
  readonly version: number
  readonly appended: number
  readonly sealed: number
  readonly sealed_to: Microseconds
  readonly removed: number
  /** The highest id in `daybook_late`. */
  readonly late_to: number
  /** Late events up to `sealed_to`, counted up to the size of a segment. */
  readonly late: number
  /** Events after `sealed_to`, counted up to the size of a segment. */
  readonly fresh: number
}

/** Rows that are read at once, in a few milliseconds. */
const STEP = 256

// One statement, so that the result is consistent. An event that is added later has a time after all
// events, or a higher id in `daybook_late`.
const START = `SELECT version, appended, sealed, sealed_to, removed,
    coalesce((SELECT max(id) FROM daybook_late), sealed_late) AS late_to,
    (SELECT count(*) FROM
      (SELECT 1 FROM daybook_late WHERE created_at <= sealed_to LIMIT :size)) AS late,
    (SELECT count(*) FROM
      (SELECT 1 FROM daybook_events WHERE created_at > sealed_to LIMIT :size)) AS fresh
  FROM daybook_index, daybook_high_water`

// Events that are removed before they are sealed stay in the count of unsealed events.
const CORRECT_COUNT = 'UPDATE daybook_index SET sealed = ? WHERE sealed = ?'

const EXISTS = 'SELECT 1 FROM daybook_events WHERE created_at = ?'

// Late events after `sealed_to` are read with the other events there.
const LATE = `SELECT id, created_at FROM daybook_late
  WHERE created_at <= ? AND id <= ? ORDER BY created_at ${LIMIT}`

// Late events after `sealed_to` among those that are read with the other events there.
const PASSED_LATE =
  'SELECT id FROM daybook_late WHERE created_at > ? AND created_at <= ? AND id <= ?'

function toExtracted({ time, row }: ReadRow): ExtractedRow {
  if (!row) return { time, ...UNREADABLE_ROW }
  const { type, username, system, source, attributes } = row
  return { time, type, username, system: system === 1, source, attributes }
}

/** See `IndexStore.readEvents`. */
export function readEvents(
  connection: Connection,
  [after, to]: readonly [after: Microseconds, to: Microseconds],
  max: number,
): readonly ExtractedRow[] {
  // The store's own connection reports events that cannot be read.
  const events = createEventReader(connection, createDamageReporter())
  return readAfter({ connection, events }, after, max)
    .filter(({ time }) => time <= to)
    .map(toExtracted)
}

interface LateRow {
  readonly id: number
  readonly created_at: Microseconds
}

/**
 * Reads the late events, oldest first, then the events after `sealed_to`, up to `size` in all, or fewer if a segment
 * has no room for more; `undefined` if there are fewer than `atLeast`.
 */
export async function readUnsealed(
  context: DriverContext,
  size: number,
  atLeast: number,
): Promise<UnsealedRows | undefined> {
  const { connection, steps, write, bounds } = context
  if (!isSealDue(connection, atLeast, bounds)) return undefined
  const start = checkRow(
    connection.statement(START).get({ size }) as SealingStart | undefined,
    START,
  )
  if (start.late + start.fresh === 0) forgetBytes(connection)
  if (start.late + start.fresh < atLeast && !isFullOfBytes(connection, maxStoredBytes(bounds))) {
    const sealed = start.appended - start.late - start.fresh
    await write(() => void connection.statement(CORRECT_COUNT).run(sealed, start.sealed))
    return undefined
  }
  await steps.pause()
  // Not those that were added since: `late_to` does not say which of them are late.
  return readFrom(context, start, Math.min(size, start.late + start.fresh))
}

async function readFrom(
  { connection, steps, bounds }: DriverContext,
  start: SealingStart,
  size: number,
): Promise<UnsealedRows> {
  const { statement } = connection
  const { version, sealed_to: sealedTo, late_to: lateTo, removed } = start
  const events = createEventReader(connection, createDamageReporter())
  const extractor = createExtractor(bounds)
  const isFull = (): boolean => extractor.bytes >= bounds.bytes

  const late: number[] = []
  let last: Microseconds = -1
  for (const { id, created_at } of statement(LATE).all(sealedTo, lateTo, size) as LateRow[]) {
    if (isFull()) break
    // An event that was removed and imported again is listed twice.
    if (created_at !== last && statement(EXISTS).get(created_at))
      await addInTurns(
        extractor,
        toExtracted({ time: created_at, row: events.at(created_at) }),
        steps,
      )
    last = created_at
    if (late.push(id) % STEP === 0 || steps.isSliceOver()) await steps.pause()
  }
  let count = late.length
  let upTo = sealedTo
  while (count < size && !isFull()) {
    const max = Math.min(STEP, size - count)
    const some = readEvents(connection, [upTo, Number.MAX_SAFE_INTEGER], max)
    if (some.length === 0) break
    for (const event of some) {
      if (isFull()) break
      await addInTurns(extractor, event, steps)
      upTo = event.time
      count += 1
    }
    if (some.length === max || steps.isSliceOver()) await steps.pause()
  }
  const passed = statement(PASSED_LATE).raw(true).all(sealedTo, upTo, lateTo) as [number][]
  for (const [id] of passed) late.push(id)
  return { extract: extractor.extract(), removed, version, sealedTo, upTo, late, count, lateTo }
}
