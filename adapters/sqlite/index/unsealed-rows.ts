import type { UnsealedEvents } from '../../../src/store-kit/index-builder/index-driver.js'
import {
  createExtractor,
  type ExtractedRow,
  type Extractor,
} from '../../../src/store-kit/index/extract.js'
import { maxStoredBytes } from '../../../src/store-kit/index/index-bounds.js'
import { finishInTurns } from '../../../src/filter/steps.js'
import type { StepRunner } from '../../../src/store-kit/index-builder/steps.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { createDamageReporter } from '../../../src/store/damage.js'
import { createEventReader } from '../schema/events.js'
import { checkRow } from '../schema/only-row.js'
import { type ReadRow, readAfter } from '../schema/read-after.js'
import type { DriverContext } from './driver-context.js'
import { forgetBytes, isFullOfBytes, isSealDue, sealedTo } from './due.js'
import type { StoredBatches } from './stored-batches.js'
import { LIMIT } from '../connection/limit.js'

/** The state of the index when sealing begins. */
export interface SealingStart {
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
  /** 1 if no event after `sealed_to` was removed, and there are no late ones: all are as they were stored. */
  readonly isUnchanged: 0 | 1
}

export interface UnsealedRows extends UnsealedEvents {
  readonly start: SealingStart
  /** The ids of the late events among them, also of those that were removed. */
  readonly late: readonly number[]
  /** Number of events after `sealed_to` among them. */
  readonly fresh: number
}

/** Rows that are read at once, in a few milliseconds. */
const STEP = 256

// One statement, so that the result is consistent. An event that is added later has a time after all
// events, or a higher id in `daybook_late`. The first `:known` events after `:from`, the last of which is that at `:to`,
// need not be counted.
const START = `SELECT appended, sealed, sealed_to, removed,
    coalesce((SELECT max(id) FROM daybook_late), sealed_late) AS late_to,
    (SELECT count(*) FROM
      (SELECT 1 FROM daybook_late WHERE created_at <= sealed_to LIMIT :size)) AS late,
    :known + (SELECT count(*) FROM
      (SELECT 1 FROM daybook_events WHERE created_at > max(sealed_to, :to) LIMIT :size - :known)) AS fresh,
    sealed_to = :from AND removed_before <= sealed_to + 1
      AND NOT EXISTS (SELECT 1 FROM daybook_removed WHERE created_at > sealed_to)
      AND NOT EXISTS (SELECT 1 FROM daybook_late WHERE created_at > sealed_to) AS isUnchanged
  FROM daybook_index, daybook_high_water`

// Events that are removed before they are sealed stay in the count of unsealed events.
const CORRECT_COUNT = 'UPDATE daybook_index SET sealed = ? WHERE sealed = ?'

const EXISTS = 'SELECT 1 FROM daybook_events WHERE created_at = ?'

// Late events after `sealed_to` are read with the other events there.
const LATE = `SELECT id, created_at FROM daybook_late
  WHERE created_at <= ? AND id <= ? ORDER BY created_at ${LIMIT}`

/** An event that cannot be read has no values in the index. */
const DAMAGED_ROW = {
  type: '',
  username: null,
  system: 0,
  source: null,
  attributes: '{}',
} as const

const eventOf = ({ time, row }: ReadRow): ExtractedRow => {
  const { type, username, system, source, attributes } = row ?? DAMAGED_ROW
  return { time, type, username, system: system === 1, source, attributes }
}

/** Adds a row to the events of a segment; the builder may rest meanwhile. */
export const addRow = (extractor: Extractor, row: ReadRow, steps: StepRunner): Promise<void> =>
  addEvent(extractor, eventOf(row), steps)

async function addEvent(
  extractor: Extractor,
  event: ExtractedRow,
  steps: StepRunner,
): Promise<void> {
  const rest = extractor.add(event)
  if (rest)
    await finishInTurns(
      rest,
      () => steps.isSliceOver(),
      () => steps.pause(),
    )
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
  // Also if nothing is due, so that it takes no memory.
  context.stored?.update(sealedTo(connection))
  if (!isSealDue(connection, atLeast, bounds)) return undefined
  const beginning = begin(context, size)
  const { start } = beginning
  if (start.late + start.fresh === 0) forgetBytes(connection)
  if (start.late + start.fresh < atLeast && !isFullOfBytes(connection, maxStoredBytes(bounds))) {
    const sealed = start.appended - start.late - start.fresh
    await write(() => void connection.statement(CORRECT_COUNT).run(sealed, start.sealed))
    return undefined
  }
  await steps.pause()
  // Not those that were added since: `late_to` does not say which of them are late.
  return readFrom(context, beginning, Math.min(size, start.late + start.fresh))
}

interface Beginning {
  readonly start: SealingStart
  /** `undefined` if they may be of no use. */
  readonly stored: StoredBatches | undefined
}

/** Parameters of `START`: the events that need not be counted. */
interface Known {
  readonly from: Microseconds
  readonly to: Microseconds
  readonly known: number
}

const NONE_KNOWN: Known = { from: -1, to: -1, known: 0 }

function begin({ connection, stored }: DriverContext, size: number): Beginning {
  const readStart = (known: Known): SealingStart =>
    checkRow(connection.statement(START).get({ size, ...known }) as SealingStart | undefined, START)
  if (stored) {
    const from = sealedTo(connection)
    const { count, last } = stored.follow(from, size)
    const start = readStart({ from, to: last, known: Math.min(count, size) })
    if (start.isUnchanged) return { start, stored }
  }
  return { start: readStart(NONE_KNOWN), stored: undefined }
}

async function readFrom(
  { connection, steps, bounds }: DriverContext,
  { start, stored }: Beginning,
  size: number,
): Promise<UnsealedRows> {
  const { statement } = connection
  const { sealed_to, late_to, removed } = start
  // The store's own connection reports events that cannot be read.
  const events = createEventReader(connection, createDamageReporter())
  const extractor = createExtractor(bounds)
  const isFull = (): boolean => extractor.bytes >= bounds.bytes

  const late: number[] = []
  let last: Microseconds = -1
  for (const { id, created_at } of statement(LATE).all(sealed_to, late_to, size) as LateRow[]) {
    if (isFull()) break
    // An event that was removed and imported again is listed twice.
    if (created_at !== last && statement(EXISTS).get(created_at))
      await addRow(extractor, { time: created_at, row: events.at(created_at) }, steps)
    last = created_at
    if (late.push(id) % STEP === 0 || steps.isSliceOver()) await steps.pause()
  }
  const eventsAfter = (time: Microseconds, max: number): readonly ExtractedRow[] => {
    const known = stored?.after(time, max) ?? []
    if (known.length > 0) return known
    return readAfter({ connection, events }, time, max).map(eventOf)
  }
  let fresh = 0
  last = sealed_to
  while (late.length + fresh < size && !isFull()) {
    const max = Math.min(STEP, size - late.length - fresh)
    const some = eventsAfter(last, max)
    if (some.length === 0) break
    for (const event of some) {
      if (isFull()) break
      await addEvent(extractor, event, steps)
      last = event.time
      fresh += 1
    }
    if (some.length === max || steps.isSliceOver()) await steps.pause()
  }
  return { extract: extractor.extract(), removed, start, late, fresh }
}
