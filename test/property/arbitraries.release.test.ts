import type { QueryObject } from 'daybook'
import type fc from 'fast-check'
import { expect, it } from 'vitest'
import { filterWithOwnFields, limitedQuery, query } from './arbitraries.js'
import { selectiveShare } from './selective-share.js'

it.each<[what: string, queries: fc.Arbitrary<QueryObject>, share: number]>([
  ['a third of the random queries', query, 1 / 3],
  ['a third of the random queries with low limits', limitedQuery, 1 / 3],
  [
    'half of the random filters with own fields',
    filterWithOwnFields.map((filter) => ({ filter, limit: 1000 })),
    1 / 2,
  ],
])('more than %s return some of the random events, but not all', async (_what, queries, share) => {
  expect(await selectiveShare(queries)).toBeGreaterThan(share)
})
