import type { AuditEvent } from 'daybook'
import type { ViewsAction } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import type { Context } from 'koa'
import { describe, expect, it } from 'vitest'
import { READING_ACTIONS, VIEWS_ACTIONS } from '../../src/http/views/actions.js'
import { readOnlyStore } from '../../src/store/read-only.js'
import { expectError } from '../support/expect-error.js'
import { JSON_API, type RawRequest } from '../support/http.js'
import { namesOf, newView, REMOVAL, serveViews, viewChange, viewOf, VIEWS } from './views-served.js'

const DENIED = {
  name: 'Denied approvals',
  query: 'filter[type_end]=approve:denied&filter[sorts]=username asc',
  range: '7d',
  display: { facets: 'username,url_params_project_code', zone: 'Europe/Berlin' },
}

describe('a view', () => {
  it('is created, read, changed and deleted', async () => {
    const server = await serveViews()
    const made = await server.send(VIEWS, newView(DENIED))
    const { id, type, attributes, links } = viewOf(made)
    expect([made.status, made.headers['location']]).toEqual([201, links.self])
    expect(links.self).toBe(`${VIEWS}/${id}`)
    const { created_at, updated_at, ...others } = attributes
    const query = 'filter[type_end]=approve%3Adenied&filter[sorts][]=username%20asc'
    expect([type, others]).toEqual(['view', { ...DENIED, query, shared: false, owner: 'ann' }])
    expect(created_at).toBe(updated_at)
    expect(viewOf(await server.send(links.self)).attributes).toEqual(attributes)

    const change = { query: 'filter[username_eq]=ann', range: null }
    const changed = viewOf(await server.send(links.self, viewChange(change)))
    expect(changed.attributes).toEqual({
      ...attributes,
      ...change,
      updated_at: changed.attributes['updated_at'],
    })
    expect(String(changed.attributes['updated_at']) > String(created_at)).toBe(true)
    expect(viewOf(await server.send(links.self)).attributes).toEqual(changed.attributes)

    expect((await server.send(links.self, REMOVAL)).status).toBe(204)
    expectError(await server.send(links.self), 404, 'UNKNOWN_VIEW')
    expect(namesOf(await server.send(VIEWS))).toEqual([])
  })

  it('needs only a name', async () => {
    const server = await serveViews()
    const path = await server.create({ name: '  all  ' })
    expect(viewOf(await server.send(path)).attributes).toMatchObject({
      name: 'all',
      query: '',
      range: null,
      display: {},
      shared: false,
    })
  })

  it('has its query in one form', async () => {
    const server = await serveViews()
    const path = await server.create({ name: 'a', query: 'filter%5Bname_eq%5D=a+b&' })
    expect(viewOf(await server.send(path)).attributes['query']).toBe('filter[name_eq]=a%20b')
  })

  it.each([
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: ' \t ' }],
    ['name', { name: 7 }],
    ['name', { name: 'a\nb' }],
    ['name', { name: 'a\u2028b' }],
    ['name', { name: 'x'.repeat(201) }],
    ['query', { name: 'a', query: null }],
    ['query', { name: 'a', query: 'filter[name_is]=a' }],
    ['query', { name: 'a', query: 'limit=3' }],
    ['query', { name: 'a', query: 'range=24h' }],
    ['query', { name: 'a', query: `filter[name_eq]=${'x'.repeat(8000)}` }],
    ['range', { name: 'a', range: '' }],
    ['range', { name: 'a', range: { last: '1h' } }],
    ['range', { name: 'a', range: 'x'.repeat(201) }],
    ['display', { name: 'a', display: [] }],
    ['display', { name: 'a', display: null }],
    ['display', { name: 'a', display: { 'not a name': '' } }],
    ['display', { name: 'a', display: JSON.parse('{"__proto__":"x"}') as object }],
    ['display/zone', { name: 'a', display: { zone: 3 } }],
    ['display/zone', { name: 'a', display: { zone: 'a\u0000b'.replace('\u0000', '\u0001') } }],
    ['display', { name: 'a', display: { columns: 'x'.repeat(8001) } }],
    [
      'display',
      {
        name: 'a',
        display: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`m${i}`, ''])),
      },
    ],
    ['shared', { name: 'a', shared: 'yes' }],
    ['owner', { name: 'a', owner: 'bob' }],
    ['created_at', { name: 'a', created_at: '2020-01-01T00:00:00Z' }],
  ])('is refused for a wrong %s: %o', async (member, attributes) => {
    const server = await serveViews()
    const refused = await server.send(VIEWS, newView(attributes))
    expectError(refused, 422, 'INVALID_VIEW', { pointer: `/data/attributes/${member}` })
    expect(await server.events()).toEqual([])
  })

  it('keeps any other name as it is', async () => {
    const server = await serveViews()
    const names = [
      '<img src=x onerror=alert(1)>',
      "'; drop table events; --",
      'übersicht 📋 \u202Etxt',
      '../../etc/passwd',
      '__proto__',
      'x'.repeat(200),
    ]
    for (const name of names) {
      const path = await server.create({ name })
      expect(viewOf(await server.send(path)).attributes['name']).toBe(name)
    }
    expect(namesOf(await server.send(VIEWS))).toEqual(names.toSorted())
  })

  it('is found only by its id', async () => {
    const server = await serveViews()
    const path = await server.create({ name: 'a' })
    for (const id of ['%20', 'x', '..%2F', path.slice(VIEWS.length + 1, -1), 'A'.repeat(4000)]) {
      const answers = [
        await server.send(`${VIEWS}/${id}`),
        await server.send(`${VIEWS}/${id}`, viewChange({})),
        await server.send(`${VIEWS}/${id}`, REMOVAL),
      ]
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    }
  })

  it('leaves an event of the user for each change, and none for reading', async () => {
    const server = await serveViews()
    const path = await server.create(DENIED, 'bob')
    const id = path.slice(VIEWS.length + 1)
    await server.send(VIEWS, { user: 'bob' })
    await server.send(path, { user: 'bob' })
    await server.send(path, { ...viewChange({ shared: true, range: '1h' }), user: 'bob' })
    await server.send(path, { ...REMOVAL, user: 'bob' })
    const events = await server.events()
    expect(events.map(({ type, username, source }) => [type, username, source])).toEqual([
      ['api:views:create', 'bob', path],
      ['api:views:update', 'bob', path],
      ['api:views:destroy', 'bob', path],
    ])
    expect(events.map(({ attributes }) => attributes)).toMatchObject([
      { view_id: id, shared: false },
      {
        view: DENIED.name,
        view_id: id,
        shared: true,
        changes: [
          { op: 'replace', path: '/range', value: '1h', old_value: '[redacted]' },
          { op: 'replace', path: '/shared', value: true, old_value: false },
        ],
      },
      { view: DENIED.name, view_id: id, query: expect.stringContaining('approve'), shared: true },
    ])
  })

  it('shows the content of a view in events only while the view is shared', async () => {
    const server = await serveViews()
    const about = (n: number) => ({
      name: `hidden name ${n}`,
      query: `filter[username_eq]=hidden${n}`,
      range: `hidden ${n}`,
      display: { facets: `hidden${n}` },
    })
    const change = async (path: string, attributes: object) =>
      expect((await server.send(path, { ...viewChange(attributes), user: 'bob' })).status).toBe(200)
    const path = await server.create(about(1), 'bob')
    await change(path, about(2))
    await change(path, { ...about(3), name: 'open', shared: true })
    await change(path, { name: 'also open' })
    await change(path, { ...about(4), shared: false })
    await server.send(path, { ...REMOVAL, user: 'bob' })
    const events = await server.events()
    expect(events).toHaveLength(6)
    const text = (event: AuditEvent): string => JSON.stringify(event)
    for (const i of [0, 1, 5]) {
      expect(text(events[i]!)).not.toContain('hidden')
      expect(Object.keys(events[i]!.attributes)).not.toContain('view')
    }
    // The event contains only the content that all users could read at that time.
    expect(text(events[2]!)).toContain('hidden3')
    expect(text(events[2]!)).not.toMatch(/hidden ?[124]|hidden name/)
    expect(events[3]!.attributes).toMatchObject({
      view: 'also open',
      changes: [{ op: 'replace', path: '/name', value: 'also open', old_value: 'open' }],
    })
    expect(text(events[4]!)).not.toMatch(/hidden ?4|hidden name/)
    expect(events[1]!.attributes['changes']).toEqual(
      ['name', 'query', 'range', 'display'].map((name) => ({
        op: 'replace',
        path: `/${name}`,
        value: '[redacted]',
        old_value: '[redacted]',
      })),
    )
  })
})

describe('the list', () => {
  it('lists own and shared views by name, and takes the query language', async () => {
    const server = await serveViews()
    await server.create({ name: 'c of ann' })
    await server.create({ name: 'b of bob', shared: true }, 'bob')
    await server.create({ name: 'a of bob' }, 'bob')
    expect(namesOf(await server.send(VIEWS))).toEqual(['b of bob', 'c of ann'])
    expect(namesOf(await server.send(VIEWS, { user: 'bob' }))).toEqual(['a of bob', 'b of bob'])
    const query = 'filter[name_cont]=OF&filter[shared_false]=1&filter[sorts]=name desc'
    expect(namesOf(await server.send(`${VIEWS}?${query.replace(' ', '+')}`))).toEqual(['c of ann'])
    const part = await server.send(`${VIEWS}?limit=1`)
    expect([part.status, namesOf(part)]).toEqual([206, ['b of bob']])
    const etag = (await server.send(VIEWS)).headers['etag']!
    const again = await server.send(VIEWS, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })
})

/** A request for each action that a route has. */
const requests = (one: string): [action: ViewsAction, path: string, request: RawRequest][] => [
  ['views:list', VIEWS, {}],
  ['views:read', one, {}],
  ['views:create', VIEWS, newView({ name: 'new' })],
  ['views:update', one, viewChange({ name: 'renamed' })],
  ['views:describe', `${VIEWS}/openapi.json`, {}],
  ['views:destroy', one, REMOVAL],
]

describe('authorize', () => {
  it('receives the action and decides about it', async () => {
    const calls: unknown[] = []
    let answer: unknown = true
    const server = await serveViews({
      async authorize(ctx: Context, action) {
        calls.push([ctx.state['username'], action])
        return answer as boolean
      },
    })
    const path = await server.create({ name: 'a' })
    for (const [action, target, request] of requests(path)) {
      answer = false
      const refused = await server.send(target, { ...request, user: 'bob' })
      const { detail } = expectError(refused, 403, 'FORBIDDEN')
      expect(detail).toBe(`bob is not allowed the action ${action}`)
      answer = true
      expect((await server.send(target, request)).status).toBeLessThan(300)
    }
    expect(calls).toContainEqual(['ann', 'views:share'])
    expect(new Set([...requests('').map(([action]) => action), 'views:share'])).toEqual(
      new Set(VIEWS_ACTIONS),
    )
  })

  it('that is missing lets users read, but not change anything', async () => {
    const store = memoryStore()
    const path = await (
      await serveViews({ authorize: () => true }, store)
    ).create({ name: 'shared', shared: true }, 'bob')
    const server = await serveViews({}, store)
    for (const [action, target, request] of requests(path))
      expect([action, (await server.send(target, request)).status]).toEqual([
        action,
        READING_ACTIONS.has(action) ? 200 : 403,
      ])
    expect(viewOf(await server.send(`${VIEWS}/me`)).attributes).toEqual({
      may: Object.fromEntries(VIEWS_ACTIONS.map((action) => [action, READING_ACTIONS.has(action)])),
    })
  })

  it('lets users change only their own views, and with the answer all also views of others', async () => {
    const server = await serveViews({
      authorize: (ctx: Context) => (ctx.state['username'] === 'eve' ? 'all' : true),
    })
    const shared = await server.create({ name: 'shared', shared: true }, 'bob')
    const own = await server.create({ name: 'own' }, 'bob')
    for (const request of [viewChange({ name: 'x' }), REMOVAL]) {
      expectError(await server.send(shared, request), 403, 'FORBIDDEN')
      expect((await server.send(own, request)).status).toBe(404)
    }
    expect((await server.send(own)).status).toBe(404)
    expect((await server.send(shared)).status).toBe(200)
    expect((await server.send(own, { user: 'eve' })).status).toBe(200)
    expect(namesOf(await server.send(VIEWS, { user: 'eve' }))).toEqual(['own', 'shared'])
    const hidden = { ...viewChange({ shared: false }), user: 'eve' }
    expect(viewOf(await server.send(shared, hidden)).attributes).toMatchObject({
      shared: false,
      owner: 'bob',
    })
    expect((await server.send(own, { ...REMOVAL, user: 'eve' })).status).toBe(204)
  })

  it('decides about sharing, and about changes of shared views', async () => {
    let maySharing = false
    const server = await serveViews({
      authorize: (_ctx: Context, action) => action !== 'views:share' || maySharing,
    })
    const message = 'ann is not allowed the action views:share'
    const refused = await server.send(VIEWS, newView({ name: 'a', shared: true }))
    expect(expectError(refused, 403, 'FORBIDDEN').detail).toBe(message)
    const path = await server.create({ name: 'a' })
    const shared = await server.send(path, viewChange({ shared: true }))
    expect(expectError(shared, 403, 'FORBIDDEN').detail).toBe(message)
    maySharing = true
    expect((await server.send(path, viewChange({ shared: true }))).status).toBe(200)
    maySharing = false
    expect((await server.send(path, viewChange({ name: 'b' }))).status).toBe(403)
    expect((await server.send(path, viewChange({ name: 'b', shared: false }))).status).toBe(200)
    expect(viewOf(await server.send(path)).attributes).toMatchObject({ name: 'b', shared: false })
  })
})

describe('a request', () => {
  it('must be a document of the type view', async () => {
    const server = await serveViews()
    const path = await server.create({ name: 'a' })
    const other = '00000000-0000-4000-8000-000000000000'
    const body = (data: unknown): RawRequest => ({
      method: 'PATCH',
      headers: { 'content-type': JSON_API },
      body: JSON.stringify({ data }),
    })
    const statuses = [
      [path, body({ type: 'event', attributes: {} })],
      [path, body({ type: 'view', id: other, attributes: {} })],
      [path, body({ type: 'view' })],
      [path, { ...body({}), headers: { 'content-type': 'application/json' } }],
      [path, { ...body('x'.repeat(140_000)) }],
      [`${path}?fields=name`, body({ type: 'view', attributes: {} })],
    ] as const
    const answers = await Promise.all(statuses.map(([to, request]) => server.send(to, request)))
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 400, 415, 413, 400])
  })

  it('that changes a view is refused by a read-only log', async () => {
    const store = memoryStore()
    const path = await (await serveViews(undefined, store)).create({ name: 'kept' })
    const server = await serveViews(undefined, readOnlyStore(store))
    expect(namesOf(await server.send(VIEWS))).toEqual(['kept'])
    for (const request of [viewChange({ name: 'x' }), REMOVAL]) {
      expectError(await server.send(path, request), 403, 'READ_ONLY')
    }
    expectError(await server.send(VIEWS, newView({ name: 'x' })), 403, 'READ_ONLY')
  })
})
