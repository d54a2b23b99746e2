import type { EventQuery } from '../filter/ast.js'
import type { EventPage } from '../store/store.js'
import { queryText } from './query-text.js'
import type { QueryStep, QueryTrace } from '../store/trace.js'

/** How a list was answered. The figures, except the time, are the sums over the steps. */
export interface QueryExplanation {
  /** The query as text for `parseQuery`. */
  readonly query: string
  /** The name of the store. */
  readonly store: string
  /** Number of events in the answer, and whether there are more. */
  readonly events: number
  readonly truncated: boolean
  readonly rows: number
  readonly checked: number
  readonly matched: number
  /**
   * Time from the call to the answer. Time outside of the steps was spent waiting for the event loop or
   * a connection.
   */
  readonly took_ms: number
  readonly steps: readonly QueryStep[]
}

/** A query of a store, as it was measured. */
interface MeasuredQuery {
  readonly store: string
  readonly query: EventQuery
  readonly trace: QueryTrace
  /** `undefined` if the query failed. */
  readonly page: EventPage | undefined
  readonly took_ms: number
}

export function explanationOf({
  store,
  query,
  trace,
  page,
  took_ms,
}: MeasuredQuery): QueryExplanation {
  // A store may not know how many rows the database examined; it saw at least those it checked.
  const steps = trace.steps.map((step) => ({
    ...step,
    rows: Math.max(step.rows, step.checked),
    took_ms: toMicroseconds(step.took_ms),
  }))
  const sum = (figure: 'rows' | 'checked' | 'matched'): number =>
    steps.reduce((sum, step) => sum + step[figure], 0)
  return {
    query: queryText(query),
    store,
    events: page?.events.length ?? 0,
    truncated: page?.truncated ?? false,
    rows: sum('rows'),
    checked: sum('checked'),
    matched: sum('matched'),
    took_ms: toMicroseconds(took_ms - trace.paused_ms),
    steps,
  }
}

/** Rounds milliseconds to three decimal places. */
export const toMicroseconds = (ms: number): number => Math.round(ms * 1000) / 1000
