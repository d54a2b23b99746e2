import { expect } from 'vitest'

/* Lists of a log of events that are numbered from 0 on. An index can answer these lists. */

export const SIZE = 300

const numbers = (from: number, step: 1 | -1): number[] =>
  Array.from({ length: 7 }, (_, i) => from + i * step)

/** Queries, and the numbers of the events that they must find. */
const LISTS: readonly (readonly [query: string, found: readonly number[]])[] = [
  ['filter[n_lt]=20&limit=7', numbers(13, 1)],
  ['filter[n_lt]=20&filter[sorts]=created_at&limit=7', numbers(0, 1)],
  ['filter[n_gteq]=290&filter[sorts]=n desc&limit=7', numbers(299, -1)],
  ['filter[sorts]=n&limit=7', numbers(0, 1)],
  // Some are among the first events, and the others are far from them.
  ['filter[m]=or&filter[n_gteq]=297&filter[n_lt]=5&limit=7', [1, 2, 3, 4, 297, 298, 299]],
]

/** The numbers of the events of a list, and the methods that checked them. */
export interface Answer {
  readonly found: readonly unknown[]
  readonly truncated: boolean
  readonly ways: readonly string[]
}

/** Compares the lists with the expected events, and their methods with `ways`. */
export async function expectLists(
  ask: (query: string) => Promise<Answer>,
  ways: unknown = expect.any(Array),
): Promise<void> {
  for (const [query, found] of LISTS)
    expect(await ask(query), query).toEqual({ found, truncated: true, ways })
}

/** Matches methods that read no event without the index. */
export const WITHOUT_SCAN: unknown = expect.not.arrayContaining(['scan'])
