import type { EventGroups } from 'daybook'
import { beforeAll, describe, expect, it } from 'vitest'
import { memoryPlace } from '../support/event-stores.js'
import { spaced, useServer } from '../support/host.js'
import type { RawResponse } from '../support/http.js'
import { own, PATH, startFeed } from './access.js'

const GROUPS = `${PATH}/groups`

const groupsOf = (response: RawResponse): EventGroups => {
  expect(response.status, response.body).toBe(200)
  return (JSON.parse(response.body) as { meta: EventGroups }).meta
}

const countsBy = ({ groups }: EventGroups): unknown[] =>
  groups.map(({ values, count }) => [...values, count])

describe('GET /api/events/groups', () => {
  const server = useServer(memoryPlace, { record: false })
  const grouped = async (query: string): Promise<EventGroups> =>
    groupsOf(await server().send(spaced(`${GROUPS}?${query}`)))

  beforeAll(async () => {
    for (let n = 0; n < 12; n++)
      await server().audit.recordCustom('request', {
        n,
        route: n % 3 === 0 ? '/orders' : '/users',
        response_status: n % 4 === 0 ? 503 : 200,
        ms: 10 * n,
      })
  })

  it('groups all matching events by one attribute', async () => {
    const query = 'filter[response_status_gteq]=500&by[]=route&numbers[]=ms&buckets=5'
    const response = await server().send(`${GROUPS}?${query}`)
    const { meta, ...rest } = JSON.parse(response.body) as { meta: EventGroups }
    expect(rest).toEqual({ jsonapi: { version: '1.1' }, links: { self: `${GROUPS}?${query}` } })
    const { took_ms, buckets, groups, ...figures } = meta
    expect(took_ms).toBeGreaterThanOrEqual(0)
    expect(figures).toEqual({
      by: ['route'],
      distinct: 2,
      total: 3,
      exact: { total: true, groups: true },
      read: 3,
    })
    const exact = (value: number): object => ({ value, low: value, high: value })
    const ms = { exact: true, read: 2, p50: exact(40), p95: exact(80), p99: exact(80) }
    expect(groups).toMatchObject([
      { values: ['/users'], count: 2, exact: true, error: 0, numbers: { ms } },
      { values: ['/orders'], count: 1, exact: true, error: 0 },
    ])
    expect(buckets!.zone).toBe('UTC')
    for (const group of groups) {
      expect(group.buckets).toHaveLength(buckets!.edges.length - 1)
      expect(group.buckets!.reduce((sum, one) => sum + one, 0)).toBe(group.count)
    }
  })

  it('groups by two attributes, and returns the most frequent pairs', async () => {
    const groups = await grouped('by[]=route&by[]=response_status&top=2')
    expect(countsBy(groups)).toEqual([
      ['/users', 200, 6],
      ['/orders', 200, 3],
    ])
    expect(groups.distinct).toBe(4)
    expect(groups).not.toHaveProperty('buckets')
  })

  it('accepts a single attribute without brackets', async () => {
    expect(countsBy(await grouped('by=response_status'))).toEqual([
      [200, 9],
      [503, 3],
    ])
  })

  it('groups only events that the user may see', async () => {
    const server = await startFeed({ visible: own })
    await server.record('ann', { kind: 'a' })
    await server.record('bob', { kind: 'b' })
    const groups = groupsOf(await server.send(`${GROUPS}?by[]=kind&by[]=username`))
    expect(countsBy(groups)).toEqual([['a', 'ann', 1]])
    expect([groups.total, groups.distinct, groups.read]).toEqual([1, 1, 1])
  })
})
