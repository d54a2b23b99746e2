import { beforeAll, describe, expect, it } from 'vitest'
import { eachStore } from '../../support/event-stores.js'
import { listOf, newEvent } from '../../support/http.js'
import { spaced, useServer } from '../../support/host.js'

/*
 * The interface, "List endpoints (general rules)": query syntax and predicates, on the event feed. Lists of the host:
 * `list-route.test.ts`. Which lists a service has: `service.test.ts`. Refused parameters:
 * `refused-parameters.test.ts`.
 */

const things = [
  { label: 'a', kind: 'x', name: 'alpha', size: 1, active: true },
  { label: 'b', kind: 'x', name: 'Beta', size: 2, active: false },
  { label: 'c', kind: 'y', name: null, size: null, active: null },
]

type Row = readonly [meaning: string, query: string, found: string]

/** "Query syntax". */
const syntax: readonly Row[] = [
  ['without a filter, lists contain all events', '', 'abc'],
  ['a filter restricts the result', 'filter[name_eq]=alpha', 'a'],
  ['several filters may be given', 'filter[size_gteq]=1&filter[kind_eq]=x', 'ab'],
  ['filters are combined by and', 'filter[name_eq]=alpha&filter[size_eq]=2', ''],
  ['[m]=or combines them by or', 'filter[m]=or&filter[name_eq]=alpha&filter[size_eq]=2', 'ab'],
  ['repeated [] gives the list of in', 'filter[label_in][]=a&filter[label_in][]=c', 'ac'],
  [
    'repeated [] gives the list of not_in',
    'filter[label_not_in][]=a&filter[label_not_in][]=c',
    'b',
  ],
  ['one attribute sorts upwards', 'filter[sorts]=size asc', 'abc'],
  ['one attribute sorts downwards', 'filter[sorts]=label desc', 'cba'],
  ['several sort in the order given', 'filter[sorts][]=kind desc&filter[sorts][]=size desc', 'cba'],
  [
    'a later sort applies to ties of the first',
    'filter[sorts][]=kind asc&filter[sorts][]=label desc',
    'bac',
  ],
  ['a direction may be left out', 'filter[sorts][]=kind desc&filter[sorts][]=label', 'cab'],
]

/** "Predicates", on plain names. For a nested name, `*` is the prefix. */
const predicates: readonly Row[] = [
  ['eq: equal', 'filter[*name_eq]=alpha', 'a'],
  ['eq: equal numbers', 'filter[*size_eq]=2', 'b'],
  ['eq: equal booleans', 'filter[*active_eq]=false', 'b'],
  ['not_eq: not equal', 'filter[*name_not_eq]=alpha', 'b'],
  ['lt: less than', 'filter[*size_lt]=2', 'a'],
  ['lteq: less than or equal', 'filter[*size_lteq]=2', 'ab'],
  ['gt: greater than', 'filter[*size_gt]=1', 'b'],
  ['gteq: greater than or equal', 'filter[*size_gteq]=1', 'ab'],
  ['lt: less than, of text', 'filter[*name_lt]=alpha', 'b'],
  ['in: in a list', 'filter[*name_in][]=alpha&filter[*name_in][]=x', 'a'],
  ['not_in: not in a list', 'filter[*name_not_in][]=alpha&filter[*name_not_in][]=x', 'b'],
  ['start: starts with', 'filter[*name_start]=al', 'a'],
  ['end: ends with', 'filter[*name_end]=ta', 'b'],
  ['cont: contains', 'filter[*name_cont]=ph', 'a'],
  ['null: is null', 'filter[*name_null]=1', 'c'],
  ['not_null: is not null', 'filter[*name_not_null]=1', 'ab'],
  ['true: boolean true', 'filter[*active_true]=1', 'a'],
  ['true: with any value', 'filter[*active_true]=yes', 'a'],
]

const plain = predicates.map(
  ([meaning, query, found]) => [meaning, query.replaceAll('*', ''), found] as const,
)
const nested = predicates.map(
  ([meaning, query, found]) =>
    [`${meaning}, of nested data`, query.replaceAll('*', 'parent_deep_'), found] as const,
)

describe.each(eachStore)('The general rules of lists, on the %s store', (_name, create) => {
  const server = useServer(create)

  beforeAll(async () => {
    for (const thing of things) {
      const event = newEvent({ type: 'thing', ...thing, parent: { deep: thing } })
      await server().send('/api/events', event)
    }
  })

  const eventsOf = async (query: string) => {
    const response = await server().send(`/api/events?${spaced(query)}`)
    expect(response.status, response.body).toBe(200)
    return listOf(response).data.map(({ attributes }) => attributes)
  }
  const labels = async (query: string): Promise<string> =>
    (await eventsOf(query)).map(({ label }) => label).join('')

  it.each([...syntax, ...plain, ...nested])('%s: %s', async (_meaning, query, found) => {
    expect(await labels(query)).toBe(found)
  })

  it('filter[system_true] accepts any value', async () => {
    expect(await labels('filter[system_true]=yes')).toBe('')
  })

  it('timestamps are written as created_at is, with microseconds', async () => {
    const times = (await eventsOf('')).map(({ created_at }) => String(created_at))
    for (const [i, time] of times.entries())
      expect(await labels(`filter[created_at_eq]=${time}`)).toBe('abc'[i])
    expect(await labels(`filter[created_at_lt]=${times[1]}`)).toBe('a')
    expect(await labels(`filter[created_at_lteq]=${times[1]}`)).toBe('ab')
    expect(await labels(`filter[created_at_gt]=${times[1]}`)).toBe('c')
    expect(await labels(`filter[created_at_gteq]=${times[1]}`)).toBe('bc')
    const outer = [times[0], times[2]].map((time) => `filter[created_at_in][]=${time}`)
    expect(await labels(outer.join('&'))).toBe('ac')
  })
})
