import { ALL_TIME, type Conjunct, type PageQuery, withoutConjunct } from '../data/query.js'

/** A query that asks for more than another. */
export interface Loosened {
  readonly query: PageQuery
  /** What was left out; `undefined` where the range is wider instead. */
  readonly conjunct: Conjunct | undefined
}

const WIDER: Readonly<Record<string, string>> = { '15m': '24h', '1h': '24h', '24h': '30d' }

function widened({ range }: PageQuery): PageQuery['range'] | undefined {
  if ('last' in range) {
    const last = WIDER[range.last]
    return last === undefined ? ALL_TIME : { last }
  }
  return range.from === undefined && range.to === undefined ? undefined : ALL_TIME
}

/** Filters whose cost is told. */
const MOST = 8

/** The query without each of its filters, and over a longer time. */
export function loosened(query: PageQuery): readonly Loosened[] {
  const without = query.where
    .slice(0, MOST)
    .map((conjunct) => ({ query: withoutConjunct(query, conjunct), conjunct }))
  const range = widened(query)
  return range ? [...without, { query: { ...query, range }, conjunct: undefined }] : without
}
