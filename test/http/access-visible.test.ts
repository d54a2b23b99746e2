import { AuditLogError } from 'daybook'
import type { Visible } from 'daybook/koa'
import { describe, expect, it } from 'vitest'
import { newEvent, type RawResponse } from '../support/http.js'
import { openStream } from '../support/server-sent.js'
import { own, PATH, requests, startFeed, textsOf } from './access.js'

describe('visible', () => {
  it('restricts lists, also the status 206', async () => {
    const server = await startFeed({ visible: own })
    for (let n = 0; n < 5; n++) {
      await server.record('ann', { text: `ann ${n}` })
      for (let k = 0; k < 5; k++) await server.record('bob', { text: `bob ${n}` })
    }
    const all = await server.send(`${PATH}?limit=5`)
    expect(all.status).toBe(200)
    expect(textsOf(all)).toEqual(['ann 0', 'ann 1', 'ann 2', 'ann 3', 'ann 4'])
    expect(textsOf(await server.send(`${PATH}?limit=1&filter[text_cont]=0`))).toEqual(['ann 0'])
    expect((await server.send(`${PATH}?limit=25`, { user: 'bob' })).status).toBe(200)
    expect((await server.send(`${PATH}?limit=24`, { user: 'bob' })).status).toBe(206)
    expect(textsOf(await server.send(PATH, { user: 'eve' }))).toEqual([])
  })

  it('responds 404 to other events, with the same error as for missing events', async () => {
    const server = await startFeed({ visible: own })
    const { id } = await server.record('bob')
    const missing = id.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
    expect((await server.send(`${PATH}/${id}`, { user: 'bob' })).status).toBe(200)
    const { etag } = (await server.send(`${PATH}/${id}`, { user: 'bob' })).headers
    // A 304 would reveal that it exists.
    for (const headers of [{}, { 'if-none-match': '*' }, { 'if-none-match': etag }]) {
      for (const method of ['GET', 'HEAD']) {
        const hidden = await server.send(`${PATH}/${id}`, { method, headers })
        const absent = await server.send(`${PATH}/${missing}`, { method, headers })
        expect(hidden.status).toBe(404)
        expect(hidden.body.replaceAll(id, missing)).toBe(absent.body)
        const namesOf = ({ rawHeaders }: RawResponse) => rawHeaders.filter((_, i) => i % 2 === 0)
        expect(namesOf(hidden)).toEqual(namesOf(absent))
      }
    }
  })

  it('restricts changes, and ends following an event that becomes invisible', async () => {
    const server = await startFeed({ visible: () => ({ tenant_eq: 'north' }) })
    const type = 'info:template_version:fetch'
    const moving = await server.audit.recordLive(type, { tenant: 'north', progress: 'a' })
    const staying = await server.audit.recordLive(type, { tenant: 'north', progress: 'a' })
    const stream = await openStream(`${server.url}${PATH}/stream?changes=true`)
    await stream.take(2)
    await moving.update({ tenant: 'south', secret: 'hush' })
    await moving.flush()
    await staying.append('progress', 'b')
    await staying.flush()
    await stream.take(1)
    await moving.append('progress', ' not for north')
    await moving.close()
    await staying.close()
    await stream.until(({ events }) => events.at(-1)!.data.includes('"closed":true'))
    const sent = stream.sent.events.map(({ data }) => data).join('\n')
    expect(sent).toContain(moving.event!.id)
    expect(sent).not.toMatch(/south|hush|not for north/)
    const of = (id: string) => stream.sent.events.filter(({ data }) => data.includes(id))
    expect(of(moving.event!.id)).toHaveLength(1)
    expect(of(staying.event!.id).at(-1)!.data).toContain('"closed":true')
    stream.leave()
  })

  it('restricts the warnings about sorts', async () => {
    const server = await startFeed({ visible: own })
    await server.record('bob', { secret: 1 })
    await server.record('ann', { open: 1 })
    const warnings = async (user: string): Promise<unknown> => {
      const { body } = await server.send(`${PATH}?filter[sorts]=secret`, { user })
      return (JSON.parse(body) as { meta?: { warnings: { detail: string }[] } }).meta?.warnings
    }
    expect(await warnings('bob')).toBeUndefined()
    expect(await warnings('ann')).toMatchObject([
      { detail: 'no visible event has the attribute "secret"' },
    ])
  })

  it('takes a Date', async () => {
    const server = await startFeed({
      visible: () => ({ created_at_gt: new Date(Date.now() + 60_000) }),
    })
    await server.record('ann')
    expect(await server.send(PATH)).toMatchObject({ status: 200 })
    expect(textsOf(await server.send(PATH))).toEqual([])
  })

  it('restricts the creator of an event, whose Location responds 404', async () => {
    const server = await startFeed({ visible: () => ({ approved_true: 1 }) })
    const created = await server.send(PATH, newEvent({ type: 'x', approved: false }))
    expect(created.status).toBe(201)
    expect((await server.send(created.headers.location!)).status).toBe(404)
  })

  it('is called once per request, and not for requests that read no events', async () => {
    let calls = 0
    const server = await startFeed({
      visible() {
        calls++
        return 'all'
      },
    })
    const { id } = await server.record('ann')
    for (const [action, path, request] of requests(id)) {
      calls = 0
      await server.send(path, request)
      expect(calls, action).toBe(['create', 'types', 'describe'].includes(action) ? 0 : 1)
    }
  })

  it.each<[string, Visible]>([
    ['an empty list', { username_in: [] }],
    ['an empty list of a negated predicate', { username_not_in: [] }],
    ['an empty list of not_eq_all', { username_not_eq_all: [] }],
    ['an empty list of a negated condition', { c: [{ a: 'username', p: 'not_in', v: [] }] }],
    ['an empty list of times', { created_at_not_in: [] }],
    ['an empty list beside another condition', { username_eq: 'ann', tenant_in: [] }],
    [
      'an empty list in a grouping',
      { username_eq: 'ann', g: [{ m: 'or', tenant_in: [], tenant_not_in: [] }] },
    ],
    ['no id', { id_null: true }],
  ])('matches nothing with %s', async (_, filter) => {
    const server = await startFeed({ visible: () => filter })
    const { id } = await server.record('ann', { text: 'hidden' })
    const stream = await openStream(`${server.url}${PATH}/stream`)
    await server.record('ann', { text: 'hidden' })
    for (const path of [PATH, `${PATH}?filter[m]=or&filter[id_not_null]=1`])
      expect(textsOf(await server.send(path))).toEqual([])
    expect((await server.send(`${PATH}/${id}`)).status).toBe(404)
    expect(JSON.parse((await server.send(`${PATH}/counts`)).body)).toMatchObject({
      meta: { total: 0 },
    })
    expect(stream.sent.events).toEqual([])
    stream.leave()
    expect(server.errors).toEqual([])
  })

  it('with an empty list in one alternative, matches the events of the other alternatives', async () => {
    const server = await startFeed({
      visible: () => ({ m: 'or', team_in: [], username_eq: 'ann' }),
    })
    await server.record('ann', { text: 'seen' })
    await server.record('bob', { text: 'hidden', team: 'a' })
    expect(textsOf(await server.send(PATH))).toEqual(['seen'])
  })

  it.each<[string, unknown]>([
    ['an unknown predicate', { username_equals: 'ann' }],
    ['an unreadable value', { created_at_gt: 'yesterday' }],
    ['an undefined value', { username_eq: undefined }],
    ['an undefined value beside others', { m: 'or', tenant_eq: 'north', username_eq: undefined }],
    ['null', { username_eq: null }],
    ['a blank value', { username_eq: '' }],
    ['white space', { username_eq: ' \u3000' }],
    ['an empty list for one value', { username_eq: [] }],
    ['an empty hash', { username_in: {} }],
    ['blank elements alone', { username_in: ['', ' '] }],
    ['an undefined element', { username_in: ['ann', undefined] }],
    ['a blank element', { username_not_in: ['bob', ''] }],
    ['a blank value in a grouping', { g: [{ username_eq: '' }] }],
    ['an empty grouping', { g: { 0: {} } }],
    ['a blank value of a condition', { c: [{ a: 'username', p: 'eq', v: '' }] }],
    ['a condition without a value', { c: [{ a: 'username', p: 'eq' }] }],
    [
      'a condition that seems to need no value',
      { g: [{ c: { 0: { a: ['secret'], p: 'null' } } }] },
    ],
    ['a text', 'username_eq=ann'],
    ['null for all', null],
    ['undefined for all', undefined],
    ['no condition', {}],
    ['a combinator alone', { m: 'and' }],
    ['sorts alone', { sorts: 'created_at desc' }],
    ['sorts and a combinator', { s: ['type'], combinator: 'or' }],
    ['a grouping with a combinator alone', { g: [{ m: 'or' }] }],
    ['an empty grouping beside a condition', { m: 'or', username_eq: 'ann', g: [{ m: 'or' }] }],
    ['groupings of empty groupings', { g: [{ g: { 0: { combinator: 'or' } } }] }],
    ['no grouping', { g: [] }],
    ['no condition in c', { c: {} }],
    ['a list', []],
    ['a function', () => ({ username_eq: 'ann' })],
    ['false', false],
    ['another word than all', 'ALL'],
  ])('is an error of the host if it is invalid: %s', async (_, filter) => {
    const server = await startFeed({ visible: () => filter as Visible })
    const { id } = await server.record('ann', { text: 'secret' })
    for (const path of [PATH, `${PATH}/${id}`, `${PATH}/stream`]) {
      const response = await server.send(path)
      expect([response.status, response.headers['content-type']]).toEqual([
        500,
        'text/plain; charset=utf-8',
      ])
    }
    expect(server.errors).toHaveLength(3)
    for (const error of server.errors) expect(error).toBeInstanceOf(AuditLogError)
  })

  describe('cannot be bypassed', () => {
    const HIDDEN = 'filter[username_eq]=bob'
    it.each([
      HIDDEN,
      `filter[m]=or&${HIDDEN}`,
      `filter[m]=or&${HIDDEN}&filter[id_not_null]=1`,
      `filter[combinator]=or&${HIDDEN}`,
      `filter[g][0][m]=or&filter[g][0][username_eq]=bob&filter[g][0][id_present]=1`,
      `filter[m]=or&filter[g][0][username_eq]=bob&filter[g][1][id_not_null]=1`,
      'filter[c][0][a]=username&filter[c][0][p]=not_eq&filter[c][0][v]=ann',
      'filter[username_or_id_not_null]=1',
      'filter[username_not_eq]=ann',
      'filter[username_in][]=bob&filter[username_in][]=ann',
      'filter[username_not_null]=0',
      'filter[secret_present]=1',
      'filter[sorts]=secret desc'.replaceAll(' ', '+'),
      'filter[sorts]=username+desc',
      'fields[event]=secret,username',
      'filter[username_eq]=ann&filter[username_eq]=bob',
      'filter%5Bm%5D=or&filter%5Busername_eq%5D=bob',
      'filter[m]=and&filter[m]=or',
      'filter[username]=bob',
    ])('by %s', async (query) => {
      const server = await startFeed({ visible: own })
      for (let n = 0; n < 4; n++) {
        await server.record('bob', { text: 'hidden', secret: n, username_or_id: 'x' })
        await server.record('ann', { text: 'seen', secret: 3 - n })
      }
      const response = await server.send(`${PATH}?limit=1000&${query}`)
      expect(response.body).not.toContain('hidden')
      expect(response.status).not.toBe(206)
      expect(server.errors).toEqual([])
    })

    it('by the order of the visible events', async () => {
      const server = await startFeed({ visible: own })
      const ranks = [3, 1, 2, 1, 3]
      for (const [n, rank] of ranks.entries()) {
        await server.record('bob', { rank: -n, text: n })
        await server.record('ann', { rank, text: n })
        await server.record('bob', { rank: n, text: n })
      }
      const sorted = (sorts: string) => server.send(`${PATH}?filter[sorts]=${sorts}&limit=3`)
      expect(textsOf(await sorted('rank+asc'))).toEqual([1, 3, 2])
      expect(textsOf(await sorted('rank+desc'))).toEqual([0, 4, 2])
    })
  })
})
