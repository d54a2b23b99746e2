import { ALL_TIME, type Conjunct, type PageQuery, withoutConjunct } from '../data/query.js'

/** A less restrictive variant of a query. */
export interface RelaxedQuery {
  readonly query: PageQuery
  /** The removed filter; `undefined` if the range is wider instead. */
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

/** The maximum number of filters to offer for removal; each costs a request. */
const MAX_FILTERS = 8

/** The query without each of its filters in turn, and with a wider range. */
export function relaxedQueries(query: PageQuery): readonly RelaxedQuery[] {
  const without = query.where
    .slice(0, MAX_FILTERS)
    .map((conjunct) => ({ query: withoutConjunct(query, conjunct), conjunct }))
  const range = widened(query)
  return range ? [...without, { query: { ...query, range }, conjunct: undefined }] : without
}
