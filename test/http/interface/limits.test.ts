import { manualClock, type ManualClock } from 'daybook/testing'
import { workflowEventTypes } from 'daybook/workflow'
import { beforeAll, describe, expect, it } from 'vitest'
import catalogue from '../../fixtures/event-types.json' with { type: 'json' }
import { memoryPlace } from '../../support/event-stores.js'
import { listOf, type RawResponse, serve } from '../../support/http.js'
import { clientOf, type Resource, useHost, useServer } from '../../support/host.js'

/* The interface, "Limits" and the throttles of "Events", row by row, as a client of the feed sees them. */

const MINUTE = 60_000_000

type Throttled = readonly [mark: '1h' | '5m', type: string, minutes: number]

const marked = (mark: Throttled[0], minutes: number): readonly Throttled[] =>
  catalogue
    .filter(({ throttle }) => throttle?.period === mark && !throttle.per)
    .map(({ type }) => [mark, type, minutes] as const)

/** The types that the interface marks. */
const throttled = [...marked('1h', 60), ...marked('5m', 5)]

/** Types with a throttle per value of an attribute. The interface names no period for the throttle of the pool. */
const scoped = [
  ['warn:notification_channel:disabled', { channel: 'mail' }, { channel: 'chat' }],
  ['warn:resource_slot_pool:full', { cluster: 'a', pool: 'x' }, { cluster: 'a', pool: 'y' }],
  ['warn:resource_slot_pool:full', { cluster: 'b', pool: 'x' }, { cluster: 'c', pool: 'x' }],
] as const

it('the interface marks 17 types without a scope, 14 of them [1h] and 3 [5m]', () => {
  expect(throttled.map(([mark]) => mark).filter((mark) => mark === '1h')).toHaveLength(14)
  expect(throttled).toHaveLength(17)
})

it('the summary of git remotes is due once a day', () => {
  expect(workflowEventTypes['info:git_remote:periodic_fetch:summary'].cadence).toEqual({ days: 1 })
})

describe('Limits', () => {
  const server = useServer(memoryPlace)
  const get = (query: string): Promise<RawResponse> => server().send(`/api/events?${query}`)
  const { events } = clientOf(() => server().url)

  beforeAll(() =>
    Promise.all(Array.from({ length: 1001 }, (_, n) => server().audit.recordCustom('many', { n }))),
  )

  const numbers = (found: readonly Resource[]): unknown[] =>
    found.map(({ attributes }) => attributes['n'])
  const upTo1000 = (from: number): number[] =>
    Array.from({ length: 1001 - from }, (_, i) => from + i)

  it('10 events are returned without a limit', async () => {
    expect(numbers(await events(''))).toEqual(upTo1000(991))
  })

  it.each([1, 11])('limit=%i returns as many', async (limit) => {
    expect(numbers(await events(`limit=${limit}`))).toEqual(upTo1000(1001 - limit))
  })

  it.each([1000, 1001])('limit=%i returns 1000 of 1001, with 206', async (limit) => {
    const response = await get(`limit=${limit}`)
    expect(response.status).toBe(206)
    expect(numbers(listOf(response).data)).toEqual(upTo1000(1))
  })

  it('1000 matching events are returned with 200', async () => {
    const response = await get('limit=1000&filter[n_gt]=0')
    expect(response.status).toBe(200)
  })
})

describe('Throttles', () => {
  let clock: ManualClock
  const server = useHost(memoryPlace, (place) => {
    clock = manualClock()
    return serve({ store: place.open(clock) })
  })
  const { events } = clientOf(() => server().url)

  /** The condition occurs, for the n-th time. */
  const occur = (type: string, n: number, data: object = {}): Promise<unknown> =>
    server().audit.recordSystem(type, { n, ...data })

  it.each(throttled)(
    '[%s] %s: one event, and the next after the period',
    async (_mark, type, minutes) => {
      await occur(type, 0)
      clock.advance((minutes / 2) * MINUTE)
      await occur(type, 1)
      clock.advance((minutes / 2) * MINUTE - 1000)
      await occur(type, 2)
      const query = `filter[type_eq]=${type}`
      expect((await events(query)).map(({ attributes }) => attributes['n'])).toEqual([0])
      clock.advance(1000)
      await occur(type, 3)
      const found = await events(query)
      expect(found.map(({ attributes }) => attributes['n'])).toEqual([0, 3])
      expect(found[1]!.attributes).toMatchObject({ system: true, suppressed_count: 2 })
    },
  )

  it.each(scoped)('[1h] %s: one event per %j', async (type, one, other) => {
    for (const [n, scope] of [one, other, one, other].entries()) await occur(type, n, scope)
    const names = Object.entries(one).map(([name]) => name)
    const of = async (scope: object): Promise<unknown[]> => {
      const filters = Object.entries(scope).map(([name, value]) => `filter[${name}_eq]=${value}`)
      const found = await events(`filter[type_eq]=${type}&${filters.join('&')}`)
      return found.map(({ attributes }) => [
        attributes['n'],
        ...names.map((name) => attributes[name]),
      ])
    }
    expect(await of(one)).toEqual([[0, ...Object.values(one)]])
    expect(await of(other)).toEqual([[1, ...Object.values(other)]])
  })

  it('a type without a mark is stored as often as it occurs', async () => {
    for (let n = 0; n < 3; n++) await occur('error:agent:start', n)
    expect(await events('filter[type_eq]=error:agent:start')).toHaveLength(3)
  })

  it('a custom event of a marked type is not throttled', async () => {
    const [, type] = throttled[0]!
    for (let n = 0; n < 3; n++) await server().audit.recordCustom(type, { n, mine: true })
    expect(await events(`filter[type_eq]=${type}&filter[mine_true]=1`)).toHaveLength(3)
  })
})
