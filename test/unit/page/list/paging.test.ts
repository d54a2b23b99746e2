import { expect, test } from 'vitest'
import { memoryStore } from '../../../../adapters/memory/index.js'
import {
  firstPage,
  isPaged,
  nextPage,
  nextSorts,
  type PageRequest,
  pagesAround,
  previousPage,
} from '../../../../adapters/page/list/paging.js'
import type { PageQuery } from '../../../../adapters/page/data/query.js'
import type { Sort } from '../../../../src/filter/ast.js'
import { AuditLog } from '../../../../src/index.js'
import type { AuditEvent } from '../../../../src/event/event.js'
import { numberedId } from '../../../support/plain-events.js'
import { eventOfMinute } from './events.js'

const NOW = new Date('2026-11-20T12:00:00Z')

const USERS = ['bob', null, 'ann', 'bob', null, 'eve']

const audit = new AuditLog({ store: memoryStore(), types: {} })
await audit.importEvents(
  USERS.map((username, i) =>
    eventOfMinute(i, {
      id: numberedId(i),
      username,
      type: i % 2 === 0 ? 'api:b:create' : 'api:a:create',
    }),
  ),
)

const queryBy = (...sorts: readonly Sort[]): PageQuery => ({ where: [], sorts, range: {} })
const by = (attribute: string, direction: 'asc' | 'desc'): PageQuery =>
  queryBy({ attribute, direction })

async function load({ query, isReversed }: PageRequest, limit: number): Promise<AuditEvent[]> {
  const { events } = await audit.list([query, `limit=${limit}`].filter(Boolean).join('&'))
  return isReversed ? events.toReversed() : [...events]
}

const numbers = (events: readonly AuditEvent[]): number[] =>
  events.map(({ id }) => Number(id.slice(-2)))

const ORDERS: readonly (readonly [PageQuery, readonly number[]])[] = [
  [queryBy(), [5, 4, 3, 2, 1, 0]],
  [by('created_at', 'asc'), [0, 1, 2, 3, 4, 5]],
  [by('type', 'asc'), [1, 3, 5, 0, 2, 4]],
  [by('type', 'desc'), [0, 2, 4, 1, 3, 5]],
  [by('username', 'asc'), [2, 0, 3, 5, 1, 4]],
  [by('username', 'desc'), [1, 4, 5, 0, 3, 2]],
]

test.each(ORDERS)(
  'pages of two cover the list forwards and backwards: %j',
  async (query, order) => {
    const there = await load(firstPage(query, NOW), 2)
    while (there.length < order.length)
      there.push(...(await load(nextPage(query, there.at(-1)!, NOW), 2)))
    expect(numbers(there)).toEqual(order)
    expect(await load(nextPage(query, there.at(-1)!, NOW), 2)).toEqual([])

    const back = there.slice(-1)
    while (back.length < order.length)
      back.unshift(...(await load(previousPage(query, back[0]!, NOW), 2)))
    expect(numbers(back)).toEqual(order)
    expect(await load(previousPage(query, back[0]!, NOW), 2)).toEqual([])
  },
)

test('a page keeps the filters and the range of the query', async () => {
  const query = {
    ...queryBy(),
    range: { from: '2026-11-20T00:01:00Z', to: '2026-11-20T00:05:00Z' },
  }
  const first = await load(firstPage(query, NOW), 2)
  expect(numbers(first)).toEqual([4, 3])
  expect(numbers(await load(nextPage(query, first[1]!, NOW), 9))).toEqual([2, 1])
  expect(numbers(await load(previousPage(query, first[1]!, NOW), 9))).toEqual([4])
})

test.each([
  [queryBy(), [5, 4, 3], [2, 1, 0]],
  [by('created_at', 'asc'), [0, 1, 2], [3, 4, 5]],
] as const)('pages around a time lead both ways: %j', async (query, before, after) => {
  const isAscending = query.sorts.length > 0
  const time = isAscending ? '2026-11-20T00:02:30Z' : '2026-11-20T00:02:00Z'
  const { previous, next } = pagesAround(query, time, NOW)
  expect(numbers(await load(previous, 9))).toEqual(before)
  expect(numbers(await load(next, 9))).toEqual(after)
  expect(numbers(await load(next, 1))).toEqual(after.slice(0, 1))
  expect(numbers(await load(previous, 1))).toEqual(before.slice(-1))
})

test('other orders are not paged', () => {
  expect(isPaged([{ attribute: 'name', direction: 'asc' }])).toBe(false)
  expect(
    isPaged([
      { attribute: 'type', direction: 'asc' },
      { attribute: 'username', direction: 'asc' },
    ]),
  ).toBe(false)
  const { query, isReversed } = firstPage(by('name', 'asc'), NOW)
  expect(query).toBe('filter[sorts][]=name%20asc')
  expect(isReversed).toBe(false)
})

test('clicks on a header cycle through its orders and back to newest first', () => {
  const time = nextSorts([], 'created_at')
  expect(time).toEqual([{ attribute: 'created_at', direction: 'asc' }])
  expect(nextSorts(time, 'created_at')).toEqual([])
  const type = nextSorts(time, 'type')
  expect(type).toEqual([{ attribute: 'type', direction: 'asc' }])
  expect(nextSorts(type, 'type')).toEqual([{ attribute: 'type', direction: 'desc' }])
  expect(nextSorts(nextSorts(type, 'type'), 'type')).toEqual([])
  expect(nextSorts(type, 'username')).toEqual([{ attribute: 'username', direction: 'asc' }])
})
