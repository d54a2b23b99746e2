import type { EventQuery } from '../filter/ast.js'
import type { EventPage } from '../store/store.js'
import { queryText } from './query-text.js'
import type { QueryStep, QueryTrace } from '../store/trace.js'

/** How a list was answered. The figures of all are the sums of those of the steps, but for the time. */
export interface QueryExplanation {
  /** As text that `parseQuery` reads. */
  readonly query: string
  /** The name of the store. */
  readonly store: string
  /** Events of the answer, and whether there are more. */
  readonly events: number
  readonly truncated: boolean
  readonly rows: number
  readonly checked: number
  readonly matched: number
  /** From the call to the answer: what is more than the steps' is waiting for a turn, or a connection. */
  readonly took_ms: number
  readonly steps: readonly QueryStep[]
}

/** The explanation of a page, or of a query that came to none. */
export function explanationOf(
  store: string,
  query: EventQuery,
  trace: QueryTrace,
  page: EventPage | undefined,
  took_ms: number,
): QueryExplanation {
  // A store may know of no more rows than those it was given.
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

/** To three places. */
export const toMicroseconds = (ms: number): number => Math.round(ms * 1000) / 1000
