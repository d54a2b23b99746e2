import type { UnsealedEvents } from '../../../src/store-kit/index-builder/index-driver.js'
import type { StepRunner } from '../../../src/store-kit/index-builder/steps.js'
import {
  createExtractor,
  type Extract,
  type Extractor,
} from '../../../src/store-kit/index/extract.js'
import type { IndexBounds } from '../../../src/store-kit/index/index-bounds.js'
import { finishInTurns } from '../../../src/filter/steps.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { faultOf, STORED_COLUMNS } from '../schema/rows.js'
import {
  ask,
  begin,
  BY_KEY,
  endTransaction,
  type PostgresPoolClient,
  type TextRow,
} from '../connection/client.js'
import type { DriverContext } from './driver-context.js'
import { isSealDue } from './due.js'
import { type IndexState, readIndexState, selectIndexState } from './index-state.js'

interface ReadRows {
  /** In the order of their times. */
  readonly rows: readonly TextRow[]
  /** The ids of the late events among them, also of those that were removed. */
  readonly late: readonly string[]
  /** They include all events after `sealedTo` up to this time. */
  readonly upTo: Microseconds
  /** Number of segments that the unsealed events would fill, at most `maxBehind`. */
  readonly behind: number
}

export interface UnsealedRows extends UnsealedEvents, IndexState, Pick<ReadRows, 'late' | 'upTo'> {
  readonly removed: number
}

const MAX_REST_FACTOR = 8

/**
 * Sealing rests long while it is little behind, to leave the server and this process to a burst of events, and less the
 * further it is behind.
 */
const restFactor = (behind: number, maxBehind: number): number =>
  MAX_REST_FACTOR * (1 - behind / maxBehind)

/**
 * Reads the late events, oldest first, then the events after `sealed_to`, up to `size` in all, or fewer if a
 * segment has no room for more; `undefined` if there are fewer than `atLeast`. Appends commit in
 * the order of their times, so any event that is added later has a later time, or is listed as late.
 */
export async function readUnsealed(
  context: DriverContext,
  size: number,
  atLeast: number,
): Promise<UnsealedRows | undefined> {
  const { names, steps, run, bounds, maxBehind } = context
  const found = await run(async (client) => {
    const { first } = await begin(client, 'REPEATABLE READ READ ONLY', {
      settings: BY_KEY,
      first: selectIndexState(names),
    })
    const state = readIndexState(first.at(-1)![0])
    const read = await readRows(client, context, state.sealedTo, { size, atLeast })
    await endTransaction(client, 'COMMIT')
    return read && { ...state, ...read }
  })
  if (!found) return undefined
  const { rows, behind, ...unsealed } = found
  steps.setRestFactor(restFactor(behind, maxBehind))
  return { ...unsealed, extract: await extractRows(steps, bounds, rows) }
}

// Rows that are read at once: large ones take much memory.
const STEP = 128

/** Length of the attributes in one segment. The values of a name are sorted at once, which blocks the event loop. */
const maxTextBytes = ({ bytes }: IndexBounds): number => Math.ceil(bytes / 8)

async function readRows(
  client: PostgresPoolClient,
  { names, bounds, maxBehind }: Pick<DriverContext, 'names' | 'bounds' | 'maxBehind'>,
  sealedTo: Microseconds,
  { size, atLeast }: { readonly size: number; readonly atLeast: number },
): Promise<ReadRows | undefined> {
  const { events, late: lateEvents } = names
  const late = await ask(
    client,
    `SELECT id, created_at FROM ${lateEvents} WHERE created_at <= $1 ORDER BY created_at LIMIT $2`,
    sealedTo,
    size,
  )
  const [count] = await ask(
    client,
    `SELECT count(*) FROM
       (SELECT FROM ${events} WHERE created_at > $1 ORDER BY created_at LIMIT $2) AS fresh`,
    sealedTo,
    maxBehind * size,
  )
  const unsealed = late.length + Number(count![0])
  if (unsealed === 0) return undefined
  if (unsealed < atLeast && !(await isSealDue(client, names, atLeast, bounds))) return undefined

  const rows: TextRow[] = []
  let left = maxTextBytes(bounds)
  const take = (row: TextRow): void => {
    left -= attributeBytes(row)
    rows.push(row)
  }
  let lateCount = 0
  let lastLate = -1
  while (lateCount < late.length && left > 0) {
    const some = late.slice(lateCount, lateCount + STEP)
    // An event that was removed and imported again is listed twice.
    const times = some.map(([, time]) => Number(time)).filter((time) => time !== lastLate)
    const found = await ask(
      client,
      `SELECT ${STORED_COLUMNS} FROM ${events} WHERE created_at = ANY ($1::int8[]) ORDER BY created_at`,
      times,
    )
    found.forEach(take)
    lastLate = Number(some.at(-1)![1])
    lateCount += some.length
  }
  let upTo = sealedTo
  for (let freshLeft = size - lateCount; freshLeft > 0 && left > 0;) {
    const step = Math.min(STEP, freshLeft)
    const fresh = await ask(
      client,
      `SELECT ${STORED_COLUMNS} FROM ${events} WHERE created_at > $1 ORDER BY created_at LIMIT $2`,
      upTo,
      step,
    )
    for (const row of fresh) {
      if (left <= 0) break
      take(row)
      upTo = Number(row[0])
    }
    freshLeft = fresh.length < step ? 0 : freshLeft - step
  }
  const passed = await ask(
    client,
    `SELECT id FROM ${lateEvents} WHERE created_at > $1 AND created_at <= $2`,
    sealedTo,
    upTo,
  )
  return {
    rows,
    late: [...late.slice(0, lateCount), ...passed].map(([id]) => id!),
    upTo,
    behind: Math.min(maxBehind, Math.floor(unsealed / size)),
  }
}

/** A damaged event has no values in the index. */
const DAMAGED_ROW = {
  type: '',
  username: null,
  system: false,
  source: null,
  attributes: '{}',
} as const

/** Adds a row with the `STORED_COLUMNS` to the events of a segment; the builder may rest meanwhile. */
export async function addRow(extractor: Extractor, row: TextRow, steps: StepRunner): Promise<void> {
  const [time, , type, username, source, system, attributes] = row
  const values = {
    type: type!,
    username: username!,
    source: source!,
    system: system === 't',
    attributes: attributes!,
  }
  const rest = extractor.add({
    time: Number(time),
    ...(faultOf(row) === undefined ? values : DAMAGED_ROW),
  })
  if (rest)
    await finishInTurns(
      rest,
      () => steps.isSliceOver(),
      () => steps.pause(),
    )
  if (steps.isSliceOver()) await steps.pause()
}

/** Stored bytes of the attributes of a row with the `STORED_COLUMNS`. */
export const attributeBytes = (row: TextRow): number => row[6]!.length

async function extractRows(
  steps: StepRunner,
  bounds: IndexBounds,
  rows: readonly TextRow[],
): Promise<Extract> {
  const extractor = createExtractor(bounds)
  for (const row of rows) {
    await addRow(extractor, row, steps)
  }
  return extractor.extract()
}
