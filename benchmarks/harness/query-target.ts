import type { StoreSetup } from './open-store.js'
import type { Query } from './query.js'

/* What answers queries, and the messages of the processes in which it does so. */

export interface Page {
  /** In the order of the result; without a sort the oldest event comes first. */
  readonly ids: readonly unknown[]
  readonly truncated: boolean
}

export interface QueryTarget {
  /**
   * Does everything that is not measured, such as preparing a statement. Handwritten SQL uses the index
   * of the attribute `ideal`; without one it scans.
   */
  prepare(query: Query, ideal: readonly string[] | undefined): () => Page | Promise<Page>
  close(): void | Promise<void>
}

/** Makes a page of rows that are newest first unless sorted; one more row than the limit was read. */
export function pageOf<Row>(
  rows: readonly Row[],
  { limit, sort }: Query,
  attributesOf: (row: Row) => Readonly<Record<string, unknown>>,
): Page {
  const ids = rows.slice(0, limit).map((row) => attributesOf(row)['change_id'])
  return { ids: sort ? ids : ids.toReversed(), truncated: rows.length > limit }
}

export type Matcher = 'sift' | 'mingo'

export type QuerySetup =
  | { readonly side: 'daybook'; readonly store: StoreSetup }
  /** Handwritten SQL on a SQLite table of JSON text. */
  | { readonly side: 'raw'; readonly filename: string }
  /** Handwritten SQL on a Postgres table of jsonb. */
  | { readonly side: 'jsonb'; readonly url: string }
  /** The memory store, or an array of events. The process generates the events itself. */
  | { readonly side: 'memory'; readonly events: number }
  | { readonly side: 'matcher'; readonly name: Matcher; readonly events: number }

export interface QueryJob {
  readonly queries: readonly Query[]
  /** Unmeasured queries that come first; they stop after half of `maxSeconds`. */
  readonly warmUp: readonly Query[]
  /** See `QueryTarget.prepare`. */
  readonly ideal?: readonly string[] | undefined
  /** No query starts after this time. */
  readonly maxSeconds: number
}

export interface QueryAnswer {
  /** For each query that ran; ends when the attributes of the events have been read. */
  readonly milliseconds: readonly number[]
  /** The result of each query. */
  readonly results: readonly QueryResult[]
  /** Processor time of the process during the first query that was measured. */
  readonly firstProcessorMilliseconds: number
  /** Time that opening the target took. */
  readonly openMilliseconds: number
}

export interface QueryResult {
  readonly events: number
  /** Equal for the same events in the same order. */
  readonly digest: string
}
