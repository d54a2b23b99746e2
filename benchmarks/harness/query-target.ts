import type { Ask } from './query.js'

/* What it is to be asked questions about a log. */

/** What `audit.explain` tells of one way in which events were come by. */
export interface Step {
  readonly method: string
  readonly rows: number
  readonly reads: number
}

export interface Page {
  /** In order; without a sort the oldest first. */
  readonly ids: readonly unknown[]
  readonly truncated: boolean
}

export interface Asked {
  /**
   * Makes everything ready that is no part of answering. SQL written by hand answers by the index of the
   * attribute `ideal`; without one it scans.
   */
  prepare(ask: Ask, ideal: readonly string[] | undefined): () => Page | Promise<Page>
  explain?(ask: Ask): Promise<readonly Step[]>
  close(): void | Promise<void>
}

/** Of one more row than are wanted, newest first unless sorted. */
export function pageOf<Row>(
  rows: readonly Row[],
  { limit, sort }: Ask,
  attributesOf: (row: Row) => Readonly<Record<string, unknown>>,
): Page {
  const ids = rows.slice(0, limit).map((row) => attributesOf(row)['change_id'])
  return { ids: sort ? ids : ids.toReversed(), truncated: rows.length > limit }
}
