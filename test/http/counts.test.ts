import type { AuditEvent } from 'daybook'
import type { Context } from 'koa'
import { beforeAll, describe, expect, it } from 'vitest'
import { memoryPlace } from '../support/event-stores.js'
import { useServer } from '../support/host.js'
import { own, startFeed } from './access.js'
import { counted, COUNTS, type CountsDocument, countsOf, inFull } from './counts.js'

describe('GET /api/events/counts', () => {
  const server = useServer(memoryPlace, { record: false })
  beforeAll(() => void inFull(server()))

  it('counts all matching events', async () => {
    const { audit } = server()
    for (let n = 0; n < 12; n++)
      await audit.recordCustom('note', { n, kind: n % 3 === 0 ? 'third' : ['other', 'odd'] })
    await audit.recordSystem('error:steps:run', { n: 12 }, { username: 'ann' })
    await audit.recordSystem('warning:disk', { n: 13, kind: 'third' })
    const query = 'filter[n_gteq]=1&facets[]=level&facets[]=kind&facets[]=username&top=2'
    const response = await server().send(`${COUNTS}?${query}&buckets=7`)
    const { meta, ...rest } = JSON.parse(response.body) as CountsDocument
    expect(rest).toEqual({
      jsonapi: { version: '1.1' },
      links: { self: `${COUNTS}?${query}&buckets=7` },
    })
    const { buckets, took_ms, ...figures } = meta
    expect(took_ms).toBeGreaterThanOrEqual(0)
    const facetNames = ['level', 'kind', 'username']
    const options = { facets: facetNames, top: 2 }
    expect({ took_ms, ...figures }).toEqual({
      ...(await audit.count('filter[n_gteq]=1', options)),
      took_ms,
    })
    expect(figures.total).toBe(13)
    expect(figures.facets['kind']).toMatchObject({ distinct: 3, missing: 1 })
    expect(buckets!.zone).toBe('UTC')
    expect(buckets!.buckets.length).toBeLessThanOrEqual(7)
    expect(buckets!.buckets.reduce((sum, { total }) => sum + total, 0)).toBe(13)
  })

  it('lists the attribute names on request', async () => {
    const query = 'filter[n_gteq]=0&buckets=0'
    const plain = await counted(server(), query)
    expect(plain).not.toHaveProperty('attributes')
    expect(plain).not.toHaveProperty('buckets')
    const { attributes } = await counted(server(), `${query}&attributes=true`)
    expect(attributes!.map(({ name, types, count }) => [name, types, count])).toEqual([
      ['n', ['number'], 14],
      ['kind', ['string'], 13],
    ])
  })

  it('ignores conditions of the query on a facet itself, but never the visible filter', async () => {
    const events: [user: string, kind: string][] = [
      ['ann', 'a'],
      ['ann', 'b'],
      ['bob', 'a'],
      ['bob', 'c'],
      ['eve', 'd'],
    ]
    for (const [username, kind] of events)
      await server().audit.recordCustom('facet', { kind, of: 'visible' }, { username })
    const where = 'filter[of_eq]=visible&filter[username_eq]=ann&facets[]=username&facets[]=kind'
    const { facets } = await counted(server(), where)
    expect(facets['username']!.values.map(({ value }) => value)).toEqual(['ann', 'bob', 'eve'])
    expect(facets['kind']!.values.map(({ value }) => value)).toEqual(['a', 'b'])
  })
})

describe('GET /api/events/counts', () => {
  it('aligns buckets to the requested time zone', async () => {
    const server = inFull(await startFeed({}))
    const event = {
      id: '00000000-0000-4000-8000-000000000001',
      created_at: '2026-01-10T12:00:00.000000Z',
      username: null,
      system: false,
      type: 'note',
      source: null,
      attributes: {},
    }
    await server.audit.importEvents([event])
    const range = 'filter[created_at_gteq]=2026-01-09T00:00+09:00&filter[created_at_lt]=2026-01-12'
    const { buckets } = await counted(
      server,
      `${range.replace('+', '%2B')}&zone=Asia/Tokyo&buckets=4`,
    )
    expect(buckets).toMatchObject({ zone: 'Asia/Tokyo', width: 86_400 })
    expect(buckets!.buckets.map(({ from, total }) => [from.slice(0, 13), total])).toEqual([
      ['2026-01-08T15', 0],
      ['2026-01-09T15', 1],
      ['2026-01-10T15', 0],
      ['2026-01-11T15', 0],
    ])
  })

  it('accepts one facet without brackets, several in any form, and ignores blank ones', async () => {
    const server = inFull(await startFeed({}))
    for (const [query, names] of [
      ['facets=type', ['type']],
      ['facets=type&facets=level', ['type', 'level']],
      ['facets[0]=type&facets[1]=username', ['type', 'username']],
      ['facets%5B%5D=level&facets[]=&facets[]=level', ['level']],
      ['facets=', []],
      ['', []],
    ] as const) {
      const { facets } = await counted(server, query)
      expect(Object.keys(facets)).toEqual(names)
    }
  })

  it('ignores sorts', async () => {
    const server = inFull(await startFeed({}))
    await server.record('ann')
    expect((await counted(server, 'filter[sorts]=type desc')).total).toBe(1)
  })

  it('has the same entity tag while the counts are the same, even if took_ms differs', async () => {
    const server = inFull(await startFeed({}))
    await server.record('ann')
    const path = `${COUNTS}?filter[created_at_lt]=2999-01-01&buckets=0`
    const first = await server.send(path)
    const again = { headers: { 'if-none-match': first.headers.etag } }
    const { audit } = server
    const { count } = audit
    audit.count = async (query, options) => ({
      ...(await count.call(audit, query, options)),
      took_ms: 12_345,
    })
    expect(countsOf(await server.send(path)).took_ms).toBe(12_345)
    expect((await server.send(path, again)).status).toBe(304)
    await server.record('ann')
    expect((await server.send(path, again)).status).toBe(200)
    const head = await server.send(path, { method: 'HEAD' })
    expect([head.status, head.body]).toEqual([200, ''])
  })
})

/** Events of bob, and events of ann. Every second event of ann is hidden from her. */
const events = Array.from({ length: 9 }, (_, n): AuditEvent => {
  const attributes = [{ kind: 'seen' }, { kind: 'secret', hidden: 'yes' }, { kind: 'of bob' }]
  return {
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    created_at: `2026-0${n + 1}-01T00:00:00.000000Z`,
    username: n % 3 === 2 ? 'bob' : 'ann',
    system: false,
    type: 'note',
    source: null,
    attributes: { n, ...attributes[n % 3] },
  }
})
const seen = events.filter((_, n) => n % 3 === 0)

it.each([
  '',
  'filter[username_eq]=ann',
  'filter[username_eq]=bob',
  'filter[username_not_eq]=ann',
  'filter[hidden_eq]=yes',
  'filter[hidden_not_null]=1',
  'filter[m]=or&filter[username_eq]=bob&filter[id_not_null]=1',
  'filter[g][0][username_eq]=ann&filter[g][1][hidden_null]=1',
  'filter[type_start]=error:',
  'filter[kind_eq]=secret&filter[username_in][]=bob&filter[hidden_eq]=yes',
])('counts by %s equal those of a log that holds only the visible events', async (query) => {
  const visible = (ctx: Context) => ({ ...own(ctx), hidden_null: true })
  const server = inFull(await startFeed({ visible }))
  await server.audit.importEvents(events)
  const facets = 'facets[]=username&facets[]=hidden&facets[]=kind&facets[]=level&facets[]=type'
  const all = `${query}&${facets}&filter[created_at_lt]=2026-12-01&attributes=true`
  for (const [user, remaining] of [
    ['ann', seen],
    ['eve', []],
  ] as const) {
    const model = inFull(await startFeed({}))
    await model.audit.importEvents(remaining)
    const { took_ms: _given, ...given } = await counted(server, all, user)
    const { took_ms: _expected, ...expected } = await counted(model, all, user)
    expect(given).toEqual(expected)
  }
})
