import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Span } from '../../../src/store-kit/counting/count-plan.js'
import type { CountsQuery, EventCounts } from '../../../src/store/counts.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import { createTally, type Tally } from '../../../src/store-kit/counting/tally.js'
import { throwIfAborted } from '../../../src/errors.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { bothOf } from '../../../src/filter/ast.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { compileFilter } from '../../../src/filter/evaluate.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import { boundsOf, createSliceQueue, rowsAtOnce, rowsIn, totalLength } from './count-rows.js'
import { type CountStatement, countStatements } from './count-statements.js'
import { candidateTimes, MAX_COUNTED_AT_ONCE } from './candidate-times.js'
import { codeOf, QUERY_CANCELED } from '../connection/failures.js'
import type { LogIndex } from '../index/log-index.js'
import { listBounds } from './list-plan.js'
import { readOpen } from '../schema/live-rows.js'
import type { Names } from '../schema/names.js'
import type { Snapshot } from '../log/snapshot.js'
import { type Run, within } from './ranges.js'
import { allOf, numbered } from './sql.js'

// If a part has more rows than this, it is counted in smaller parts.
const MAX_ROWS = 20_000
const MAX_ROWS_AT_ONCE = 50_000
// After a part that takes longer, parts do not grow.
const QUICK_MS = 150
// The event loop gets a turn after this many rows.
const ROWS_PER_TURN = 2000

/** The time range of events that can match. */
export const countBounds = ({ visible, where }: CountsQuery): TimeBounds =>
  listBounds({ where: bothOf(visible, where) })

async function readSpan(
  run: Run,
  { events, liveEvents }: Names,
  clock: Microseconds | undefined,
): Promise<Span> {
  const [row] = await run(
    sql(
      `SELECT
         least((SELECT min(created_at) FROM ${events}), (SELECT min(created_at) FROM ${liveEvents})),
         greatest((SELECT max(created_at) FROM ${events}), (SELECT max(created_at) FROM ${liveEvents})),
         coalesce(?::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`,
      clock ?? null,
    ),
  )
  const [first, last, now] = row!
  return { first: first === null ? undefined : Number(first), last: Number(last), now: Number(now) }
}

interface TimedEvent {
  readonly time: Microseconds
  readonly event: AuditEvent
}

/** The open events to count, without their texts if no figure needs them. */
async function readLive(
  { ask, open }: Snapshot,
  names: Names,
  { shared, groupFields }: Tally,
): Promise<TimedEvent[]> {
  const events = groupFields ? open.map(({ base }) => base) : await readOpen(ask, names, open)
  const matches = compileFilter(shared)
  return open
    .map(({ time }, i) => ({ time, event: events[i]! }))
    .filter(({ event }) => matches(event))
}

/** Sets the server's time limit of the next statement; `end` as `performance.now()` counts. */
function stopAt(end: number): Sql {
  const ms = Math.max(1, Math.ceil(end - performance.now()))
  return sql(`SELECT set_config('statement_timeout', ?, true)`, String(ms))
}

/** The rows of each statement; they are counted once all are there. */
type Answers = readonly (readonly TextRow[])[]

export interface CountContext {
  readonly names: Names
  /** `undefined` if the index must not be used. */
  readonly index: LogIndex | undefined
  readonly clock: Microseconds | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * Counts in one snapshot. If there are few events, or the index finds that few match, one statement
 * counts all of them, which may take half of the time. Otherwise the slices are counted in parts; when
 * the time is over, the server cancels the current part, and its rows are not counted.
 */
export async function countEvents(
  snapshot: Snapshot,
  query: CountsQuery,
  { names, index, clock, signal }: CountContext,
): Promise<EventCounts> {
  const { events, foreignIds } = names
  const end = performance.now() + query.within
  const run: Run = (query) => {
    throwIfAborted(signal)
    return snapshot.ask(numbered(query), ...query.params)
  }
  const tally = createTally(query, await readSpan(run, names, clock))
  const slices = tally.rounds.flat()
  const live = await readLive(snapshot, names, tally)
  const statements = countStatements(query, tally, foreignIds)

  const ask = async (
    rowsOf: (statement: CountStatement) => Sql,
    mostRows: number,
    end: number | undefined,
  ): Promise<Answers | 'too many'> => {
    const answers: TextRow[][] = []
    for (const statement of statements) {
      if (end !== undefined) await run(stopAt(end))
      const { text, params } = statement.select(rowsOf(statement))
      const rows = await run(sql(`${text} LIMIT ${mostRows + 1}`, ...params))
      if (rows.length > mostRows) return 'too many'
      answers.push(rows)
    }
    return answers
  }

  /** Runs the statements on the rows until `end`, if there is one. */
  const answersOn = async (
    rowsOf: (statement: CountStatement) => Sql,
    mostRows: number,
    end: number | undefined,
  ): Promise<Answers | 'too many' | 'stopped'> => {
    try {
      return await ask(rowsOf, mostRows, end)
    } catch (error) {
      if (end === undefined || signal?.aborted || codeOf(error) !== QUERY_CANCELED) throw error
      return 'stopped'
    }
  }

  const take = async (answers: Answers, slices: readonly Slice[]): Promise<void> => {
    let taken = 0
    for (const [i, statement] of statements.entries())
      for (const row of answers[i]!) {
        statement.take(row)
        if (++taken % ROWS_PER_TURN === 0) await nextTurn()
      }
    for (const slice of slices) {
      for (const { time, event } of live)
        if (time >= slice.from && time <= slice.to) tally.add(slice.cell, event)
      tally.seen(slice)
    }
  }

  const hasFew = async (bounds: TimeBounds): Promise<boolean> => {
    const { text, params } = within(bounds)
    const first = `SELECT FROM ${events} WHERE ${text} LIMIT ${MAX_COUNTED_AT_ONCE + 1}`
    const [row] = await run(sql(`SELECT count(*) FROM (${first}) AS first`, ...params))
    return Number(row![0]) <= MAX_COUNTED_AT_ONCE
  }

  /** False if there are too many events. */
  const countAtOnce = async (): Promise<boolean> => {
    const bounds = boundsOf(slices)
    const times =
      index &&
      (await candidateTimes(snapshot, { index, names }, { where: tally.shared, bounds, end }))
    if (!times && !(await hasFew(bounds))) return false
    const condition = times ? sql('created_at = ANY (?::bigint[])', times) : within(bounds)
    await run(sql('SAVEPOINT before'))
    const answers = await answersOn(
      ({ filter }) => rowsAtOnce(events, slices, allOf(condition, filter)),
      MAX_ROWS_AT_ONCE,
      (performance.now() + end) / 2,
    )
    if (typeof answers === 'string') {
      await run(sql('ROLLBACK TO before'))
      return false
    }
    await take(answers, slices)
    return true
  }

  const countInParts = async (): Promise<void> => {
    const queue = createSliceQueue(slices)
    const first = totalLength(tally.rounds[0]!)
    let seen = 0
    let length = first
    let longest = Infinity
    while (seen < first || !tally.isOver()) {
      const part = queue.next(length)
      if (part.length === 0) return
      const start = performance.now()
      const answers = await answersOn(
        ({ filter }) => rowsIn(events, part, filter),
        MAX_ROWS,
        seen < first ? undefined : end,
      )
      if (answers === 'stopped') return
      if (answers === 'too many') {
        queue.putBack(part)
        longest = length / 2
        length = longest
        continue
      }
      await take(answers, part)
      seen += totalLength(part)
      if (performance.now() - start < QUICK_MS) length = Math.min(2 * length, longest)
    }
  }

  const isDone = slices.length === 0 || (query.within > 0 && (await countAtOnce()))
  if (!isDone) await countInParts()
  return tally.counts()
}
