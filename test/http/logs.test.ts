import { AuditLogs } from 'daybook'
import * as fetchHandlers from 'daybook/fetch'
import { memoryLogs } from 'daybook/memory'
import { describe, expect, it, vi } from 'vitest'
import { userOf } from '../support/frameworks.js'
import { errorOf, listOf, newEvent, send } from '../support/http.js'
import { openStream, type SentEvent } from '../support/server-sent.js'
import { hostsOf } from './management-hosts.js'
import { checkAnswers, closing, listen, PATH, serve, TYPES } from './served-logs.js'

interface LogEvents {
  readonly data: readonly {
    readonly meta: { readonly log: string }
    readonly attributes: { readonly n: string | number }
  }[]
}

const textsOf = ({ body }: { readonly body: string }) =>
  (JSON.parse(body) as LogEvents).data.map(({ meta, attributes }) => `${meta.log} ${attributes.n}`)

/** The attributes `n` of events that a stream has sent, in order of size. */
const numbersOf = (sent: readonly SentEvent[]): number[] =>
  sent
    .map(({ data }) => JSON.parse(data) as { readonly data: LogEvents['data'][number] })
    .map(({ data }) => Number(data.attributes.n))
    .toSorted((a, b) => a - b)

const links = (response: { readonly body: string }) =>
  (JSON.parse(response.body) as { links: Record<string, string> }).links

describe('the endpoints of many logs', () => {
  it('list the logs in pages, by a text in their keys', async () => {
    const { logs, url, get } = await serve()
    await checkAnswers(url)
    for (const key of ['acme', 'acme/EU', 'umbrella', 'ünï']) await logs.log(key).record('note')
    const all = await get('')
    expect(all.status).toBe(200)
    expect(listOf(all).data).toMatchObject([
      {
        type: 'log',
        id: 'acme',
        relationships: { events: { links: { related: '/api/logs/acme/events' } } },
      },
      {
        id: 'acme/EU',
        relationships: { events: { links: { related: '/api/logs/acme%2FEU/events' } } },
      },
      { id: 'umbrella' },
      { id: 'ünï' },
    ])
    const found: string[] = []
    for (let path: string | undefined = `${PATH}?limit=1&search=E`; path !== undefined;) {
      const page = await send(url, path)
      found.push(...listOf(page).data.map(({ id }) => id))
      path = links(page)['next']
      expect(page.status).toBe(path === undefined ? 200 : 206)
    }
    expect(found).toEqual(['acme', 'acme/EU', 'umbrella'])
    for (const query of ['?limit=0', '?limit=1001', '?limit=1&limit=2', '?other=1'])
      expect((await get(query)).status).toBe(400)
  })

  it('serve each log separately', async () => {
    const { logs, url, get } = await serve()
    await logs.log('acme/EU').record('note', { n: 1 })
    const events = '/acme%2FEU/events'
    const made = await get(events, newEvent({ type: 'own', n: 2 }))
    expect(made.status).toBe(201)
    expect(made.headers['location']).toMatch(/^\/api\/logs\/acme%2FEU\/events\/[-0-9a-f]{36}$/)
    expect((await send(url, made.headers['location']!)).status).toBe(200)
    const listed = await get(events)
    expect(listOf(listed).data.map(({ attributes }) => attributes['n'])).toEqual([1, 2])
    expect(listOf(listed).links.self).toBe('/api/logs/acme%2FEU/events')
    for (const path of ['counts', 'groups?by=type', 'export', 'me', 'types', 'openapi.json'])
      expect((await get(`${events}/${path}`)).status).toBe(200)
    expect((await get('/acme%2feu/events')).status).toBe(404)
    // This spelling selects the same log.
    expect((await get('/%61cme%2fEU/events')).status).toBe(200)
    expect(await logs.keys()).toEqual(['acme/EU'])
  })

  it('list, page and count several logs as one', async () => {
    const { logs, url, get } = await serve()
    await checkAnswers(url)
    for (let n = 1; n <= 5; n++) await logs.log(n % 2 === 0 ? 'even' : 'odd').record('note', { n })
    const both = 'logs[]=even&logs[]=odd'
    const found: string[] = []
    for (let path: string | undefined = `${PATH}/events?${both}&limit=2`; path !== undefined;) {
      const page = await send(url, path)
      expect(page.status).toBe(links(page)['prev'] === undefined ? 200 : 206)
      found.unshift(...textsOf(page))
      path = links(page)['prev']
    }
    expect(found).toEqual(['odd 1', 'even 2', 'odd 3', 'even 4', 'odd 5'])
    const [event] = listOf(await get(`/events?${both}&limit=1`)).data
    expect((await send(url, event!.links.self)).status).toBe(200)
    const inPath = await get(`/odd,even/events/${event!.id}`)
    expect(JSON.parse(inPath.body)).toMatchObject({ data: { id: event!.id, meta: { log: 'odd' } } })
    expect((await get(`/events/${event!.id}?logs=even`)).status).toBe(404)
    expect(textsOf(await get('/odd,even/events?limit=1'))).toEqual(['odd 5'])
    const me = await get('/odd,even/events/me')
    expect(JSON.parse(me.body)).toMatchObject({
      data: {
        id: 'ann',
        attributes: { may: { list: true, export: true, create: false }, restricted: false },
      },
    })
    const asc = await get(`/events?${both}&limit=3&filter[s]=created_at+asc`)
    await logs.log('even').record('note', { n: 6 })
    const rest = await send(url, links(asc)['next']!)
    expect([...textsOf(asc), ...textsOf(rest)].at(-1)).toBe('even 6')
    const counts = await get(`/events/counts?${both}&facets[]=n&filter[n_gt]=2`)
    expect(JSON.parse(counts.body)).toMatchObject({ meta: { total: 4, exact: { total: true } } })
    const same = await get(`/events/counts?${both}&buckets=0`)
    const headers = { 'if-none-match': same.headers['etag'] }
    expect((await get(`/events/counts?${both}&buckets=0`, { headers })).status).toBe(304)
    const fields = await get(`/events?logs=odd&fields[event]=n&limit=1`)
    expect(listOf(fields).data[0]!.attributes).toEqual({ n: 5 })
  })

  it('refuse wrong requests, and name the limit', async () => {
    const { logs, url, get } = await serve()
    await checkAnswers(url)
    await logs.log('a').record('note')
    const many = Array.from({ length: 101 }, (_, i) => `logs[]=${i}`).join('&')
    const tooMany = await get(`/events?${many}`)
    expect([tooMany.status, errorOf(tooMany).detail]).toEqual([400, expect.stringContaining('100')])
    for (const query of [
      '',
      '?logs[]=',
      '?logs[]=a&cursor=x',
      '?logs[]=a&cursor=x&cursor=x',
      '?logs[]=a&after=1',
    ])
      expect((await get(`/events${query}`)).status).toBe(400)
    expect((await get('/events/stream?logs=a&filter[s]=n')).status).toBe(400)
    expect((await get('/events/stream?logs=a&cursor=x')).status).toBe(400)
    const lastEventId = { 'last-event-id': 'x' }
    expect((await get('/events/stream?logs=a', { headers: lastEventId })).status).toBe(400)
    expect((await get('/events/other?logs=a')).status).toBe(404)
    expect((await get('/events?logs=a', { method: 'POST' })).status).toBe(405)
    const anonymous = await get('', { user: null })
    expect([anonymous.status, anonymous.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('Basic'),
    ])
  })

  it('respond in the same way to a log that the user may not read and to a missing log', async () => {
    const reads: string[] = []
    const { logs, get } = await serve({
      authorize: ({ username }, action, log) =>
        username === 'ann' || (log === 'open' && action !== 'create'),
      visible: ({ username }, log) =>
        username === 'ann' || log !== 'open' ? 'all' : { username_eq: 'bob' },
      onRead: ({ username }, { action, events }, log) =>
        void reads.push(`${String(username)} ${action} ${log} ${events.length}`),
    })
    for (const key of ['open', 'secret'])
      for (const username of ['ann', 'bob'])
        await logs.log(key).record('note', { n: username }, { username })
    const asBob = { user: 'bob' }
    expect(listOf(await get('', asBob)).data.map(({ id }) => id)).toEqual(['open'])
    for (const path of [
      '/KEY/events',
      '/KEY/events/stream',
      '/events?logs=KEY',
      '/events?logs=open&logs=KEY',
    ]) {
      const [forbidden, unknown] = await Promise.all(
        ['secret', 'nolog1'].map((key) => get(path.replace('KEY', key), asBob)),
      )
      expect(forbidden!.status).toBe(404)
      expect(forbidden!.body.replaceAll('secret', 'nolog1')).toBe(unknown!.body)
    }
    const created = await get('/open/events', { ...newEvent({ type: 'x' }), user: 'bob' })
    expect(created.status).toBe(403)
    expect(reads).toEqual([])
    expect(textsOf(await get('/events?logs=open', asBob))).toEqual(['open bob'])
    expect(textsOf(await get('/events?logs=open&logs=secret'))).toHaveLength(4)
    expect(reads).toEqual(['bob list open 1', 'ann list open 2', 'ann list secret 2'])
  })

  it('pass errors of the host on', async () => {
    const logs: AuditLogs = new AuditLogs({ stores: memoryLogs(), types: TYPES })
    closing.push(() => logs.close())
    await logs.log('a').record('note')
    const routes = fetchHandlers.logRoutes(logs, {
      username: () => 'ann',
      visible: () => {
        throw new Error('of the host')
      },
    })
    for (const path of ['/events?logs=a', '/a/events'])
      await expect(routes(new Request(`http://host.test${PATH}${path}`))).rejects.toThrow(
        'of the host',
      )
  })

  it('stream several logs, and continue each at its cursor', async () => {
    const { logs, url } = await serve()
    for (const key of ['a', 'b', 'c']) await logs.log(key).record('note', { n: 0 })
    const at = `${url}${PATH}/events/stream?logs[]=a&logs[]=b&filter[n_gt]=0`
    const stream = await openStream(at)
    await logs.log('c').record('note', { n: 1 })
    await logs.log('b').record('note', { n: 2 })
    const [first] = await stream.take(1)
    expect(JSON.parse(first!.data)).toMatchObject({
      data: {
        meta: { log: 'b' },
        attributes: { n: 2 },
        links: { self: expect.stringMatching(/^\/api\/logs\/b\/events\//) },
      },
    })
    stream.leave()
    await logs.log('a').record('note', { n: 3 })
    await logs.log('b').record('note', { n: 4 })
    const next = await openStream(at, { 'last-event-id': first!.lastEventId })
    const [third, fourth] = await next.take(2)
    expect(numbersOf([third!, fourth!])).toEqual([3, 4])
    next.leave()
    const page = await send(url, `${PATH}/events?logs[]=a&logs[]=b`)
    const { cursor } = (JSON.parse(page.body) as { meta: { cursor: string } }).meta
    await logs.log('a').record('note', { n: 5 })
    const fromPage = await openStream(`${at}&cursor=${cursor}`)
    expect(numbersOf(await fromPage.take(1))).toEqual([5])
    fromPage.leave()
    const sinceTime = await openStream(
      `${url}${PATH}/a,b/events/stream?after=2020-01-01T00:00:00Z&changes=true`,
    )
    expect(numbersOf(await sinceTime.take(6))).toEqual([0, 0, 2, 3, 4, 5])
    sinceTime.leave()
  })

  it.each([undefined, null, 1, 'true', {}])('show no log by the answer %o', async (answer) => {
    const { logs, get } = await serve({ authorize: () => answer as never })
    await logs.log('a').record('note')
    expect(listOf(await get('')).data).toEqual([])
    expect((await get('/a/events')).status).toBe(404)
  })

  it('end a stream when the user may no longer read one of its logs', async () => {
    let isAllowed = true
    const { logs, url } = await serve({
      authorize: (_context, _action, log) => log !== 'b' || isAllowed,
      recheckMs: 50,
    })
    for (const key of ['a', 'b']) await logs.log(key).record('note')
    const stream = await openStream(`${url}${PATH}/events/stream?logs[]=a&logs[]=b`)
    isAllowed = false
    expect(await stream.ended).toBe('ended')
  })
})

const hosts = hostsOf('logRoutes', { authorize: (context: object) => userOf(context) === 'ann' })

describe('every host serves many logs', () => {
  it.each(Object.entries(hosts))('%s', async (_name, host) => {
    const logs: AuditLogs = new AuditLogs({ stores: memoryLogs(), types: TYPES })
    closing.push(() => logs.close())
    await logs.log('a').record('note', { n: 1 })
    const url = await listen(host(logs))
    const made = await send(url, `${PATH}/a/events`, newEvent({ type: 'own', n: 2 }))
    expect(made.status).toBe(201)
    expect(textsOf(await send(url, `${PATH}/events?logs[]=a`))).toEqual(['a 1', 'a 2'])
    expect((await send(url, PATH)).status).toBe(200)
    expect((await send(url, `${PATH}/a/events`, { user: 'bob' })).status).toBe(404)
    const stream = await openStream(`${url}${PATH}/events/stream?logs=a`)
    await logs.log('a').record('note', { n: 3 })
    expect(JSON.parse((await stream.take(1))[0]!.data)).toMatchObject({
      data: { meta: { log: 'a' } },
    })
    stream.leave()
    await vi.waitFor(async () => expect((await send(url, '/elsewhere')).status).toBe(404), {
      timeout: 60_000,
    })
  })
})
