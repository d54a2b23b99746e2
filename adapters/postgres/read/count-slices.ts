import type { AuditEvent } from '../../../src/event/event.js'
import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import { thenDecided } from '../../../src/filter/steps.js'
import { decideInTurns } from '../../../src/filter/time-slices.js'
import { durationOf, type Slice } from '../../../src/store-kit/counting/slices.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import { compileStoredFilter } from '../../../src/store-kit/stored-filter.js'
import type { DamageReporter } from '../../../src/store/damage.js'
import type { TextRow } from '../connection/client.js'
import { codeOf, QUERY_CANCELED } from '../connection/failures.js'
import type { Snapshot } from '../log/snapshot.js'
import { readOpen } from '../schema/live-rows.js'
import type { Names } from '../schema/names.js'
import { checkRows, rowToLazyEvent, STORED_COLUMNS } from '../schema/rows.js'
import { pushDownEvents } from './pushdown-event.js'
import type { Run } from './ranges.js'
import { allOf } from './sql.js'

// If a part has more rows than this, it is counted in smaller parts.
const MAX_ROWS = 20_000
// The first part is a small share of all, so that it ends soon.
const MAX_PARTS = 1024
// After a part that takes longer, parts do not grow; else by this factor at most.
const QUICK_MS = 150
const MAX_GROWTH = 8
// The limit of a part also counts for the short statements after it, such as COMMIT, which must not end on a busy server.
const MIN_LIMIT_MS = 10

export interface SlicesCount {
  readonly run: Run
  readonly snapshot: Snapshot
  readonly names: Names
  readonly damages: DamageReporter
  /** True if SQL may read attributes, which fails if one of them is no JSON. */
  readonly readsJson: boolean
  readonly signal: AbortSignal | undefined
  /** When the time is over, as `performance.now()` counts. */
  readonly end: number
}

/**
 * Counts the slices in parts: those of the first round without a time limit, the others until the time is over. The server
 * then cancels the current part, and its rows are not counted. Equal events are grouped if the tally may group them.
 */
export async function addSlices(
  count: SlicesCount,
  tally: Tally,
  slices: readonly Slice[],
  max = Infinity,
): Promise<void> {
  const { run } = count
  const add = await createAdding(count, tally)
  if (max === 0) return add([], slices)
  const queue = createSliceQueue(slices)
  const whole = totalLength(slices)
  const first = totalLength(tally.rounds[0] ?? [])
  let seen = 0
  let length = max <= MAX_ROWS ? whole : Math.max(first, whole / MAX_PARTS)
  let longest = Infinity
  let isLimited = false
  while (seen < first || !tally.isOver()) {
    const part = queue.next(length)
    if (part.length === 0) return
    const start = performance.now()
    if (seen >= first && max > MAX_ROWS) {
      if (!isLimited) await run(sql('SAVEPOINT counted'))
      isLimited = true
    }
    const rows = await readPart(count, tally, part, isLimited)
    if (rows === 'stopped') {
      await run(sql('ROLLBACK TO counted'))
      return
    }
    if (rows.length > MAX_ROWS) {
      queue.putBack(part)
      longest = length / 2
      length = longest
      continue
    }
    await add(rows, part)
    seen += totalLength(part)
    const growth = Math.min(MAX_GROWTH, QUICK_MS / (performance.now() - start))
    if (growth > 1) length = Math.min(growth * length, longest)
  }
}

/** Sets the server's time limit of the next statement; `end` as `performance.now()` counts. */
function stopAt(end: number): Sql {
  const ms = Math.max(MIN_LIMIT_MS, Math.ceil(end - performance.now()))
  return sql(`SELECT set_config('statement_timeout', ?, true)`, String(ms))
}

/** A group in the form of a row: its earliest time, and the fields that it is grouped by. */
const GROUPED = { type: `''`, username: 'NULL', system: 'FALSE' } as const

/** The rows of the slices, or of groups of them, with their cell and number; `stopped` after the server's time limit. */
async function readPart(
  { run, names, readsJson, signal, end }: SlicesCount,
  tally: Tally,
  part: readonly Slice[],
  isLimited: boolean,
): Promise<readonly TextRow[] | 'stopped'> {
  const fields = tally.groupFields
  const where = readsJson ? pushDownEvents(tally.shared, names.foreignIds) : undefined
  const { text, params } = rowsIn(names, part, where)
  const column = (name: keyof typeof GROUPED): string =>
    fields?.includes(name) ? name : GROUPED[name]
  const select = fields
    ? `SELECT min(created_at), '', ${column('type')}, ${column('username')}, NULL, ${column('system')}, '{}', NULL,
         cell, count(*) FROM ${text} GROUP BY ${['cell', ...fields].join()}`
    : `SELECT ${STORED_COLUMNS}, cell, 1 FROM ${text}`
  try {
    // The time limit of the part before may also end this statement.
    if (isLimited) await run(stopAt(end))
    return await run(sql(`${select} LIMIT ${MAX_ROWS + 1}`, ...params))
  } catch (error) {
    const isStopped = isLimited && codeOf(error) === QUERY_CANCELED
    if (!isStopped || signal?.aborted) throw error
    return 'stopped'
  }
}

/** The rows of the events in the slices, with their `cell`; each slice is an index scan of the key. */
function rowsIn({ events }: Names, slices: readonly Slice[], filter: Sql | undefined): Sql {
  const condition = allOf(sql('created_at BETWEEN earliest AND latest'), filter)
  // OFFSET 0 prevents any other join.
  return sql(
    `unnest(?::int4[], ?::int8[], ?::int8[]) AS slice (cell, earliest, latest),
     LATERAL (SELECT * FROM ${events} WHERE ${condition.text} OFFSET 0) AS event`,
    slices.map(({ cell }) => cell),
    slices.map(({ from }) => from),
    slices.map(({ to }) => to),
    ...condition.params,
  )
}

/** Adds rows of the slices, and the open live events in them, which no statement reads. */
async function createAdding(
  { snapshot, names, damages }: SlicesCount,
  tally: Tally,
): Promise<(rows: readonly TextRow[], slices: readonly Slice[]) => Promise<void>> {
  const matches = compileStoredFilter(tally.shared)
  const check = checkRows(damages)
  const isGrouped = tally.groupFields !== undefined
  const open = isGrouped
    ? snapshot.open.map(({ base }) => base)
    : await readOpen(snapshot.ask, names, snapshot.open)
  const timed = snapshot.open.map(({ time }, i) => ({ time, event: open[i]! }))
  const addEvent = (cell: number, event: AuditEvent, count: number): ReturnType<typeof matches> =>
    thenDecided(matches(event), (isMatch) => isMatch && tally.add(cell, event, count))
  return async (rows, slices) => {
    const sound = isGrouped ? rows : check(rows)
    await decideInTurns(sound, (row) =>
      addEvent(Number(row[8]), isGrouped ? groupOf(row) : rowToLazyEvent(row), Number(row[9])),
    )
    for (const slice of slices) {
      const inside = timed.filter(({ time }) => time >= slice.from && time <= slice.to)
      await decideInTurns(inside, ({ event }) => addEvent(slice.cell, event, 1))
      tally.seen(slice)
    }
  }
}

/** An event that stands for its group. */
const groupOf = ([time, , type, username, , system]: TextRow): AuditEvent => ({
  id: '',
  created_at: formatTimestamp(Number(time)),
  type: type!,
  username: username!,
  system: system === 't',
  source: null,
  attributes: {},
})

const totalLength = (slices: readonly Slice[]): Microseconds =>
  slices.reduce((sum, slice) => sum + durationOf(slice), 0)

/** Slices that have not been counted yet. */
interface SliceQueue {
  /** Removes the next slices with a total length of `length` at most; the last one may be split. */
  next(length: Microseconds): Slice[]
  putBack(slices: readonly Slice[]): void
}

function createSliceQueue(slices: readonly Slice[]): SliceQueue {
  /** In reverse order. */
  const waiting = slices.toReversed()

  return {
    next(length) {
      const taken: Slice[] = []
      let left = Math.max(1, Math.floor(length))
      while (left > 0 && waiting.length > 0) {
        const slice = waiting.pop()!
        const to = Math.min(slice.to, slice.from + left - 1)
        if (to < slice.to) waiting.push({ ...slice, from: to + 1 })
        taken.push({ ...slice, to })
        left -= to - slice.from + 1
      }
      return taken
    },
    putBack(slices) {
      waiting.push(...slices.toReversed())
    },
  }
}
