import type { UnsealedEvents } from '../../../src/store-kit/index-builder/index-driver.js'
import { createExtractor } from '../../../src/store-kit/index/extract.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { DriverContext } from './driver-context.js'
import { forgetBytes, isFullOfBytes, isSealDue } from './due.js'

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
// events, or a higher id in `daybook_late`.
const START = `SELECT appended, sealed, sealed_to, removed,
    coalesce((SELECT max(id) FROM daybook_late), sealed_late) AS late_to,
    (SELECT count(*) FROM
      (SELECT 1 FROM daybook_late WHERE created_at <= sealed_to LIMIT :size)) AS late,
    (SELECT count(*) FROM
      (SELECT 1 FROM daybook_events WHERE created_at > sealed_to LIMIT :size)) AS fresh
  FROM daybook_index, daybook_high_water`

// Events that are removed before they are sealed stay in the count of unsealed events.
const CORRECT_COUNT = 'UPDATE daybook_index SET sealed = ? WHERE sealed = ?'

const COLUMNS = 'created_at, type, username, system, json(attributes)'

const EVENT_AT = `SELECT ${COLUMNS} FROM daybook_events WHERE created_at = ?`

const EVENTS_AFTER = `SELECT ${COLUMNS} FROM daybook_events WHERE created_at > ? ORDER BY created_at LIMIT ?`

// Late events after `sealed_to` are read with the other events there.
const LATE = `SELECT id, created_at FROM daybook_late
  WHERE created_at <= ? AND id <= ? ORDER BY created_at LIMIT ?`

interface LateRow {
  readonly id: number
  readonly created_at: Microseconds
}

type Row = readonly [
  time: Microseconds,
  type: string,
  username: string | null,
  system: 0 | 1,
  attributes: string,
]

/**
 * Reads the late events, oldest first, then the events after `sealed_to`, `size` in all, or fewer if a segment
 * has no room for more.
 */
export async function readUnsealed(
  context: DriverContext,
  size: number,
): Promise<UnsealedRows | undefined> {
  const { connection, steps, write, bounds } = context
  if (!isSealDue(connection, size, bounds)) return undefined
  const start = connection.statement(START).get({ size }) as SealingStart
  if (start.late + start.fresh === 0) forgetBytes(connection)
  if (start.late + start.fresh < size && !isFullOfBytes(connection, bounds.bytes)) {
    const sealed = start.appended - start.late - start.fresh
    await write(() => void connection.statement(CORRECT_COUNT).run(sealed, start.sealed))
    return undefined
  }
  await steps.pause()
  return readFrom(context, start, size)
}

async function readFrom(
  { connection: { statement }, steps, bounds }: DriverContext,
  start: SealingStart,
  size: number,
): Promise<UnsealedRows> {
  const { sealed_to, late_to, removed } = start
  const extractor = createExtractor(bounds)
  const isFull = (): boolean => extractor.bytes >= bounds.bytes
  const add = ([time, type, username, system, attributes]: Row): void =>
    extractor.add({ time, type, username, system: system === 1, attributes })

  const late: number[] = []
  let last: Microseconds = -1
  for (const { id, created_at } of statement(LATE).all(sealed_to, late_to, size) as LateRow[]) {
    if (isFull()) break
    // An event that was removed and imported again is listed twice.
    const row = created_at === last ? undefined : statement(EVENT_AT).raw(true).get(created_at)
    if (row) add(row as Row)
    last = created_at
    if (late.push(id) % STEP === 0 || steps.isSliceOver()) await steps.pause()
  }
  let fresh = 0
  last = sealed_to
  while (late.length + fresh < size && !isFull()) {
    const rows = statement(EVENTS_AFTER)
      .raw(true)
      .all(last, Math.min(STEP, size - late.length - fresh)) as Row[]
    if (rows.length === 0) break
    for (const row of rows) {
      if (isFull()) break
      add(row)
      last = row[0]
      fresh += 1
    }
    await steps.pause()
  }
  return { extract: extractor.extract(), removed, start, late, fresh }
}
