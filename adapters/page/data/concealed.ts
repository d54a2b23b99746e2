import { ApiError } from './api.js'
import { type Conjunct, isGrouping, type PageQuery } from './query.js'

/** The names that the service does not show to this user, by its answer to a request that named them. */
export function concealedIn(error: Error | undefined, names: Iterable<string>): readonly string[] {
  if (!(error instanceof ApiError) || error.problem?.code !== 'UNKNOWN_ATTRIBUTE') return []
  const { detail } = error.problem
  return [...new Set(names)].filter((name) => detail.includes(JSON.stringify(name)))
}

const namesIn = (conjunct: Conjunct): readonly string[] =>
  isGrouping(conjunct)
    ? [...conjunct.conditions, ...conjunct.groupings].flatMap(namesIn)
    : [...conjunct.attributes, ...(conjunct.joinedName === undefined ? [] : [conjunct.joinedName])]

/** The names of the query that the service does not show, and the query without them; `undefined` if the error has another reason. */
export function concealedQuery(
  error: Error | undefined,
  query: PageQuery,
): { readonly names: readonly string[]; readonly rest: PageQuery } | undefined {
  const sorted = query.sorts.map(({ attribute }) => attribute)
  const names = concealedIn(error, [...query.where.flatMap(namesIn), ...sorted])
  if (names.length === 0) return undefined
  const isShown = (used: readonly string[]): boolean => !used.some((name) => names.includes(name))
  return {
    names,
    rest: {
      ...query,
      where: query.where.filter((conjunct) => isShown(namesIn(conjunct))),
      sorts: query.sorts.filter(({ attribute }) => isShown([attribute])),
    },
  }
}
