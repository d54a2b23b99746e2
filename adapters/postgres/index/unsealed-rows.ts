import type { StepRunner } from '../../../src/store-kit/index-builder/steps.js'
import {
  createExtractor,
  type Extract,
  type ExtractedRow,
} from '../../../src/store-kit/index/extract.js'
import type { IndexBounds } from '../../../src/store-kit/index/index-bounds.js'
import { readStateRow, stateSql } from '../../../src/store-kit/maintenance/index-rows.js'
import type { UnsealedRows } from '../../../src/store-kit/maintenance/index-store.js'
import { addInTurns, UNREADABLE_ROW } from '../../../src/store-kit/maintenance/repairs.js'
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
import { damagedIndexState } from './index-state.js'

interface ReadRows extends Pick<UnsealedRows, 'late' | 'upTo'> {
  /** In the order of their times. */
  readonly rows: readonly TextRow[]
  /** Number of segments that the unsealed events would fill, at most `maxBehind`. */
  readonly behind: number
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
      first: stateSql(names.indexState),
    })
    const state = readStateRow(first.at(-1)![0], damagedIndexState)
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
    late: [...late.slice(0, lateCount), ...passed].map(([id]) => Number(id)),
    upTo,
    behind: Math.min(maxBehind, Math.floor(unsealed / size)),
  }
}

/** The event of a row with the `STORED_COLUMNS`. */
function toExtracted(row: TextRow): ExtractedRow {
  const [time, , type, username, source, system, attributes] = row
  const values = {
    type: type!,
    username: username!,
    source: source!,
    system: system === 't',
    attributes: attributes!,
  }
  return { time: Number(time), ...(faultOf(row) === undefined ? values : UNREADABLE_ROW) }
}

/** Stored bytes of the attributes of a row with the `STORED_COLUMNS`. */
const attributeBytes = (row: TextRow): number => row[6]!.length

async function extractRows(
  steps: StepRunner,
  bounds: IndexBounds,
  rows: readonly TextRow[],
): Promise<Extract> {
  const extractor = createExtractor(bounds)
  for (const row of rows) await addInTurns(extractor, toExtracted(row), steps)
  return extractor.extract()
}

/** See `IndexStore.readEvents`. */
export async function readEvents(
  { names, run }: Pick<DriverContext, 'names' | 'run'>,
  [after, to]: readonly [after: Microseconds, to: Microseconds],
  max: number,
): Promise<readonly ExtractedRow[]> {
  const rows = await run((client) =>
    ask(
      client,
      `SELECT ${STORED_COLUMNS} FROM ${names.events} WHERE created_at > $1 AND created_at <= $2
       ORDER BY created_at LIMIT ${max}`,
      after,
      to,
    ),
  )
  return rows.map(toExtracted)
}
