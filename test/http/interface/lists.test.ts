import { listRoute } from 'daybook/koa'
import { beforeAll, describe, expect, it } from 'vitest'
import { eachStore } from '../../support/event-stores.js'
import { errorOf, listOf, newEvent, type RawResponse, serve } from '../../support/http.js'
import { spaced, useHost } from '../../support/host.js'
import { thingAttributes, thingEvents, thingLists } from './things.js'

/*
 * The interface, "List endpoints (general rules)": query syntax, predicates and rules, on the event feed
 * and on a list of the host, which must give the same results. Which lists a service has: `service.test.ts`.
 */

type Row = readonly [meaning: string, query: string, found: string]

/** "Query syntax". */
const syntax: readonly Row[] = [
  ['without a filter there is everything', '', 'abc'],
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
    'a later one decides where the first ties',
    'filter[sorts][]=kind asc&filter[sorts][]=label desc',
    'bac',
  ],
  ['a direction may be left out', 'filter[sorts][]=kind desc&filter[sorts][]=label', 'cab'],
]

/** "Predicates", on plain names; `*` is where a nested one has its prefix. */
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
  ['true: whatever the value is', 'filter[*active_true]=yes', 'a'],
]

const plain = predicates.map(
  ([meaning, query, found]) => [meaning, query.replaceAll('*', ''), found] as const,
)
const nested = predicates.map(
  ([meaning, query, found]) =>
    [`${meaning}, of nested data`, query.replaceAll('*', 'parent_deep_'), found] as const,
)

describe.each(eachStore)('The general rules of lists, on the %s store', (name, create) => {
  const host = useHost(create, async (place) => {
    const { source, remove } = await thingLists[name]!()
    const route = listRoute({ resource: 'thing', attributes: thingAttributes, source })
    const server = await serve({
      store: place.open(),
      routes: (router) => router.get('/api/things', (ctx, next) => route(ctx, next)),
    })
    return {
      send: server.send,
      async close() {
        await server.close()
        await remove()
      },
    }
  })

  beforeAll(async () => {
    for (const attributes of thingEvents) await host().send('/api/events', newEvent(attributes))
  })

  const labels = (response: RawResponse): string => {
    expect(response.status, response.body).toBe(200)
    return listOf(response)
      .data.map(({ attributes }) => attributes['label'])
      .join('')
  }

  describe.each(['/api/events', '/api/things'])('at %s', (path) => {
    const list = (query: string): Promise<RawResponse> => host().send(`${path}?${spaced(query)}`)

    it.each([...syntax, ...plain, ...nested])('%s: %s', async (_meaning, query, found) => {
      expect(labels(await list(query))).toBe(found)
    })

    it('raw brackets are accepted, as in URLs built by hand', async () => {
      const { body } = await list('filter[label_in][]=a')
      // The link repeats the query as it came over the wire.
      expect(listOf({ body }).links.self).toBe(`${path}?filter[label_in][]=a`)
    })

    it('a direction that is neither asc nor desc is refused', async () => {
      const response = await list('filter[sorts]=label sideways')
      expect(response.status).toBe(400)
      expect(errorOf(response).source).toEqual({ parameter: 'filter[sorts]' })
    })

    it('an unknown predicate is refused', async () => {
      const response = await list('filter[label_is]=a')
      expect([response.status, errorOf(response).code]).toEqual([400, 'UNKNOWN_PREDICATE'])
    })
  })

  it('filter[system_true] accepts any value', async () => {
    expect(labels(await host().send('/api/events?filter[system_true]=yes'))).toBe('')
  })

  it('timestamps are written as created_at is, with microseconds', async () => {
    const all = listOf(await host().send('/api/events')).data
    const times = all.map(({ attributes }) => String(attributes['created_at']))
    const found = async (query: string): Promise<string> =>
      labels(await host().send(`/api/events?${query}`))
    for (const [i, time] of times.entries())
      expect(await found(`filter[created_at_eq]=${time}`)).toBe('abc'[i])
    expect(await found(`filter[created_at_lt]=${times[1]}`)).toBe('a')
    expect(await found(`filter[created_at_lteq]=${times[1]}`)).toBe('ab')
    expect(await found(`filter[created_at_gt]=${times[1]}`)).toBe('c')
    expect(await found(`filter[created_at_gteq]=${times[1]}`)).toBe('bc')
    expect(
      await found(`filter[created_at_in][]=${times[0]}&filter[created_at_in][]=${times[2]}`),
    ).toBe('ac')
  })
})
