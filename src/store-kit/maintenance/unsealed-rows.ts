import type { Microseconds } from '../../event/timestamp.js'
import type { ExtractedRow } from '../index/extract.js'
import { sql } from '../sql.js'
import type { Dialect } from './dialect.js'
import { type IndexState, readStateRow, stateSql } from './index-rows.js'
import type { IndexStore, UnsealedRows } from './index-store.js'
import type { Program } from './program.js'

/** Reads the events that are in no segment yet. */
export interface UnsealedReader extends Pick<IndexStore, 'read' | 'readEvents'> {
  /** The events at these times that exist, oldest first. */
  readonly eventsAt: (times: readonly Microseconds[]) => Promise<readonly ExtractedRow[]>
  /** True if so many unsealed events are enough for a segment. */
  readonly isEnough: (unsealed: number) => Promise<boolean>
  readonly add: (row: ExtractedRow) => Promise<void> | void
  /** True if no more events have room. */
  readonly isFull: () => boolean
}

/** Rows that are read at once: large ones take much memory. */
const STEP = 128

interface Start extends IndexState {
  /** The late events that are added from now on have a higher id. */
  readonly lateTo: number
  /** The number of events after `sealedTo`, at most `max`. */
  readonly fresh: number
}

function* start({ tables, newestLate, damagedState }: Dialect, max: number): Program<Start> {
  const fresh = `(SELECT count(*) FROM
    (SELECT 1 FROM ${tables.events} WHERE created_at > sealed_to ORDER BY created_at LIMIT ${max}) AS fresh)`
  const [row] = yield sql(stateSql(tables.indexState, `, ${newestLate}, ${fresh}`))
  const state = readStateRow(row, damagedState)
  const [lateTo, count] = row!.slice(-2).map(Number)
  return { ...state, lateTo: lateTo!, fresh: count! }
}

type LateRow = readonly [id: number, time: Microseconds]

function* lateRows(
  { tables }: Dialect,
  { sealedTo, lateTo }: Start,
  size: number,
): Program<readonly LateRow[]> {
  const rows = yield sql(
    `SELECT id, created_at FROM ${tables.late} WHERE created_at <= ? AND id <= ?
     ORDER BY created_at LIMIT ${size}`,
    sealedTo,
    lateTo,
  )
  return rows.map(([id, time]) => [Number(id), Number(time)])
}

/** The late events that are read with the others after `sealedTo`. */
function* passedLate(
  { tables }: Dialect,
  { sealedTo, lateTo }: Start,
  upTo: Microseconds,
): Program<readonly number[]> {
  const rows = yield sql(
    `SELECT id FROM ${tables.late} WHERE created_at > ? AND created_at <= ? AND id <= ?`,
    sealedTo,
    upTo,
    lateTo,
  )
  return rows.map(([id]) => Number(id))
}

/**
 * Reads the late events, oldest first, then the events after `sealed_to`, up to `size` in all, or fewer if a segment
 * has no room for more; `undefined` if there are not enough. Appends commit in the order of their times, so any event
 * that is added later has a later time, or is listed as late. Counts up to `maxCounted` events.
 */
export async function collectUnsealed(
  dialect: Dialect,
  reader: UnsealedReader,
  size: number,
  maxCounted = size,
): Promise<Omit<UnsealedRows, 'extract'> | undefined> {
  const { read, readEvents, eventsAt, isEnough, add, isFull } = reader
  const started = await read(() => start(dialect, maxCounted))
  const listed = await read(() => lateRows(dialect, started, size))
  const unsealed = listed.length + started.fresh
  if (!(await isEnough(unsealed))) return undefined

  const late: number[] = []
  for (let last = -1; late.length < listed.length && !isFull();) {
    const some = listed.slice(late.length, late.length + STEP)
    // An event that was removed and imported again is listed twice.
    const times = new Set(some.map(([, time]) => time))
    times.delete(last)
    for (const row of await eventsAt([...times])) await add(row)
    for (const [id] of some) late.push(id)
    last = some.at(-1)![1]
  }

  // Of those that were added since, it is not known which are late.
  const end = Math.min(size, unsealed)
  let count = late.length
  let upTo = started.sealedTo
  for (let isLast = false; count < end && !isLast && !isFull();) {
    const max = Math.min(STEP, end - count)
    const rows = await readEvents(upTo, Number.MAX_SAFE_INTEGER, max)
    for (const row of rows) {
      if (isFull()) break
      await add(row)
      upTo = row.time
      count += 1
    }
    isLast = rows.length < max
  }
  late.push(...(await read(() => passedLate(dialect, started, upTo))))
  return { ...started, late, upTo, count }
}
