import type { CountsQuery, EventCounts } from '../store/counts.js'
import { AuditLogError } from '../errors.js'
import { bothOf, type EventQuery, MAX_LIMIT } from '../filter/ast.js'
import type { EventPage, EventStore, ListOptions, ReadOptions } from '../store/store.js'
import { explanationOf, type QueryExplanation, toMicroseconds } from './explanation.js'
import { queryText } from './query-text.js'
import { createTrace } from '../store/trace.js'

/** A query that took at least `slowQueryMs`. */
export interface SlowQuery {
  /** The called method of {@link AuditLog}. `pages` runs one query per page. */
  readonly method: 'list' | 'pages' | 'count'
  /** The query as text for `parseQuery`; for a count, its filter. */
  readonly query: string
  readonly took_ms: number
  /** How the store answered; `undefined` for a count. */
  readonly explanation: QueryExplanation | undefined
  /** The error if the call rejected. The explanation then covers the work until the error. */
  readonly error: unknown
}

/** Runs queries on a store and reports the slow ones. */
export interface SlowQueries {
  list(
    method: 'list' | 'pages',
    query: EventQuery,
    options: ListOptions | undefined,
  ): Promise<EventPage>
  count(query: CountsQuery, options: ReadOptions): Promise<EventCounts>
}

/** Checks the option. Throws `INVALID_OPTION`. */
export function readSlowQueryMs(ms: unknown): number | undefined {
  if (ms === undefined || (typeof ms === 'number' && Number.isFinite(ms) && ms >= 0)) return ms
  throw new AuditLogError(
    'INVALID_OPTION',
    'slowQueryMs must be a number of milliseconds, 0 or more',
  )
}

/** The listeners of a log to its slow queries. */
export interface SlowQueryListeners {
  has(name: 'slow-query'): boolean
  emit(name: 'slow-query', slow: SlowQuery): void
}

/** Measures nothing while there are no listeners. */
export function createSlowQueries(
  store: EventStore,
  slowMs: number | undefined,
  listeners: SlowQueryListeners,
): SlowQueries {
  const isWatching = (): boolean => slowMs !== undefined && listeners.has('slow-query')

  const watch = async <Answer>(
    run: () => Promise<Answer>,
    describe: (took_ms: number, answer: Answer | undefined) => Omit<SlowQuery, 'took_ms' | 'error'>,
  ): Promise<Answer> => {
    const start = performance.now()
    let answer: Answer | undefined
    let error: unknown
    try {
      return (answer = await run())
    } catch (thrown) {
      error = thrown
      throw thrown
    } finally {
      const took_ms = performance.now() - start
      // Deliver the answer before listeners run.
      if (took_ms >= slowMs!)
        setImmediate(() => {
          const slow = { ...describe(took_ms, answer), took_ms: toMicroseconds(took_ms), error }
          listeners.emit('slow-query', slow)
        })
    }
  }

  return {
    list(method, query, options) {
      if (!isWatching()) return store.list(query, options)
      const trace = options?.trace ?? createTrace({ detailed: false })
      return watch(
        () => store.list(query, { ...options, trace }).finally(() => trace.stop()),
        (took_ms, page) => {
          const explanation = explanationOf({ store: store.name, query, trace, page, took_ms })
          return { method, query: explanation.query, explanation }
        },
      )
    },
    async count(query, options) {
      const run = (): Promise<EventCounts> => store.count(query, options)
      if (!isWatching()) return run()
      return watch(run, () => {
        const where = bothOf(query.visible, query.where)
        const text = queryText({ where, sorts: [], limit: MAX_LIMIT })
        return { method: 'count', query: text, explanation: undefined }
      })
    },
  }
}
