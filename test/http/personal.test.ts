import type { AuditEvent, AuditLogOptions, EventTypes } from 'daybook'
import { type AuditRoutesOptions, auditRoutes, basicAuth } from 'daybook/node'
import type { IncomingMessage } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { type RawRequest, type RawResponse, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { openPersonalLog } from '../support/personal-log.js'
import { openStream } from '../support/server-sent.js'

const EVENTS = '/api/events'
const START = '2000-01-01T00:00:00.000000Z'

/** A feed of a log with keys. Only the user dpo may open personal attributes. */
async function start(
  routes: AuditRoutesOptions = {
    authorize: (request: IncomingMessage, action) =>
      action !== 'personal' || request.headers.authorization === basic('dpo'),
  },
  options: Partial<AuditLogOptions<EventTypes>> = {},
) {
  const log = openPersonalLog(options)
  const authenticate = basicAuth({ users: { ann: 'ann', dpo: 'dpo' } })
  const handle = auditRoutes(log.audit, routes)
  const { url, close } = await listen((request, response) =>
    authenticate(request, response, () => handle(request, response)),
  )
  onTestFinished(close)
  const get = (path: string, user = 'dpo', request: RawRequest = {}): Promise<RawResponse> =>
    send(url, EVENTS + path, {
      ...request,
      headers: { ...request.headers, authorization: basic(user) },
    })
  return { ...log, url, get }
}

const basic = (user: string): string => `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`

/** The paths that read events. */
const pathsOf = (id: string): readonly string[] => [
  '',
  `/${id}`,
  '/history?resource[customer_id]=c17',
  '/export',
  '/export?format=csv',
  '/export?format=cloudevents',
  '/report',
]

const withForm = (path: string, form: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}personal=${form}`

const EMAIL = 'c17@example.com'
const CHANGE = { changes: [{ op: 'replace', path: '/plan', value: 'paid', old_value: 'free' }] }

it('sends the sealed form, and opens the values only for who may see them', async () => {
  const { get, update } = await start()
  const { id } = await update('c17', 'ann', CHANGE)
  for (const path of pathsOf(id)) {
    for (const given of [path, withForm(path, 'sealed')]) {
      const sealed = await get(given)
      expect([given, sealed.status]).toEqual([given, 200])
      expect(sealed.body).toMatch(/sealed(\\?"|"")*:true/)
      expect(sealed.body).not.toContain(EMAIL)
      expect(sealed.body).not.toMatch(/data(\\?"|"")*:(\\?"|"")[\w-]{38}/)
    }
    expectError(await get(withForm(path, 'open'), 'ann'), 403, 'FORBIDDEN')
    const open = await get(withForm(path, 'open'))
    expect([path, open.status]).toEqual([path, 200])
    expect(open.body).toContain(EMAIL)
    expect(open.headers['cache-control']).toBe('no-store')
    expect(open.headers['etag']).toBeUndefined()
    const stored = await get(withForm(path, 'stored'), 'ann')
    expect(stored.body).toMatch(/data(\\?"|"")*:(\\?"|"")*[\w-]{38}/)
    expect(stored.body).not.toContain(EMAIL)
  }
})

it('denies opened values to everybody without authorize, and without its true', async () => {
  for (const routes of [
    {},
    { authorize: (_: unknown, action: string) => (action === 'personal' ? 1 : true) },
  ]) {
    const { get, update } = await start(routes as AuditRoutesOptions)
    const { id } = await update('c17', 'ann', CHANGE)
    for (const path of pathsOf(id)) expectError(await get(withForm(path, 'open')), 403, 'FORBIDDEN')
    const me = await get('/me')
    expect(JSON.parse(me.body)).toMatchObject({
      data: { attributes: { may: { personal: false } } },
    })
  }
})

it('says who may open values', async () => {
  const { get } = await start()
  const mayOf = async (user: string): Promise<unknown> =>
    (JSON.parse((await get('/me', user)).body) as { data: { attributes: { may: object } } }).data
      .attributes.may
  expect(await mayOf('dpo')).toMatchObject({ list: true, personal: true })
  expect(await mayOf('ann')).toMatchObject({ list: true, personal: false })
})

it('opens nothing of a log without keys', async () => {
  const { get } = await start({ authorize: () => true }, { privacy: false })
  expectError(await get('?personal=open'), 400, 'INVALID_VALUE', { parameter: 'personal' })
  const me = await get('/me')
  expect(JSON.parse(me.body)).toMatchObject({ data: { attributes: { may: { personal: false } } } })
})

it('refuses other values, and other endpoints', async () => {
  const { get } = await start()
  for (const query of ['?personal=yes', '?personal=', '?personal=open&personal=open'])
    expectError(await get(query), 400, 'INVALID_VALUE', { parameter: 'personal' })
  for (const path of ['/counts', '/groups?by[]=type', '/stream', '/me', '/types'])
    expectError(await get(withForm(path, 'open')), 400, 'UNKNOWN_PARAMETER')
  expectError(await get('?%70ersonal=open', 'ann'), 400, 'UNKNOWN_PARAMETER')
})

it('takes the parameter in the body of a long query', async () => {
  const { get, update } = await start()
  await update('c17')
  const post = (body: string, user: string): Promise<RawResponse> =>
    get('/search', user, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })
  expect((await post('personal=open', 'dpo')).body).toContain(EMAIL)
  expectError(await post('personal=open', 'ann'), 403, 'FORBIDDEN')
  expect((await post('', 'ann')).body).not.toContain(EMAIL)
})

it('never answers a request for the sealed form with an opened one', async () => {
  const { get, update } = await start()
  await update('c17')
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => get(i % 2 === 0 ? '' : '?personal=open')),
  )
  for (const [i, { body }] of answers.entries()) expect(body.includes(EMAIL)).toBe(i % 2 === 1)
  const { headers } = await get('')
  const again = { headers: { 'if-none-match': headers['etag'] as string } }
  expect((await get('', 'ann', again)).status).toBe(304)
  expect((await get('?personal=open', 'dpo', again)).status).toBe(200)
})

it('keeps the form in links', async () => {
  const { get, update } = await start()
  for (let i = 0; i < 3; i++) await update('c17', 'ann', CHANGE)
  const linkOf = async (path: string, pick: (document: never) => unknown): Promise<string> =>
    String(pick(JSON.parse((await get(path)).body) as never)).replace(EVENTS, '')
  type Listed = { links: { self: string; prev: string } }
  for (const path of [
    '?limit=1&personal=open',
    '/history?resource[customer_id]=c17&limit=1&personal=open',
  ]) {
    const prev = await linkOf(path, ({ links }: Listed) => links.prev)
    expect((await get(prev)).body).toContain(EMAIL)
    const self = await linkOf(path, ({ links }: Listed) => links.self)
    expect((await get(self)).body).toContain(EMAIL)
  }
  const report = JSON.parse((await get('/report?personal=open')).body) as {
    meta: { export: string; sha256: string }
  }
  const exported = await get(report.meta.export.replace(EVENTS, ''))
  expect(exported.body).toContain(EMAIL)
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(exported.body))
  expect(Buffer.from(digest).toString('hex')).toBe(report.meta.sha256)
})

it('waits for an event in the form that was asked for', async () => {
  const { get, update } = await start()
  const wait = { headers: { prefer: 'wait=30' } }
  const open = get('?personal=open', 'dpo', wait)
  const sealed = get('', 'ann', wait)
  // The requests wait once the log is read for them, so repeat until both have an answer.
  await update('c17')
  expect((await open).body).toContain(EMAIL)
  const { body } = await sealed
  expect(body).toContain('"sealed":true')
  expect(body).not.toMatch(/"data":"[\w-]{38}/)
})

it('streams the sealed form, also to onRead', async () => {
  const read: AuditEvent[] = []
  const { url, update } = await start({
    authorize: () => true,
    onRead: (_, { events }) => void read.push(...events),
  })
  await update('c17')
  const headers = { authorization: basic('dpo') }
  for (const query of ['', '&changes=true', '&fields[event]=personal', '&filter[plan_eq]=free']) {
    const stream = await openStream(`${url}${EVENTS}/stream?after=${START}${query}`, headers)
    const [message] = await stream.take(1)
    stream.leave()
    const { data } = message!
    expect(data).toContain('"sealed":true')
    expect(data).not.toMatch(/"data":"[\w-]{38}/)
  }
  expect(read).toHaveLength(4)
  expect(JSON.stringify(read)).not.toMatch(/example\.com|"data":"[\w-]{38}/)
})

it('says what is encrypted', async () => {
  const { get } = await start()
  const refusals: [path: string, parameter: string][] = [
    ['?filter[email_eq]=x', 'filter'],
    ['?filter[personal_data_eq]=x', 'filter'],
    ['?filter[sorts]=address_city+asc', 'filter[sorts]'],
    ['/counts?facets[]=email', 'facets[]'],
    ['/counts?filter[before_email_eq]=x', 'filter'],
    ['/groups?by[]=email', 'by[]'],
    ['/groups?by[]=type&numbers[]=email', 'numbers[]'],
    ['/history?resource[email]=x', 'resource'],
    ['/export?filter[email_eq]=x', 'filter'],
    ['/report?filter[email_eq]=x', 'filter'],
    ['/stream?filter[email_eq]=x', 'filter'],
  ]
  for (const [path, parameter] of refusals)
    expectError(await get(path), 400, 'SEALED_ATTRIBUTE', { parameter })
})

it('finds the events of a person by the ref', async () => {
  const { get, audit, update } = await start()
  const { id } = await update('c17')
  await update('c18', 'bob')
  const [part] = (await audit.get(id))!.attributes['personal'] as { subject: string }[]
  const { body } = await get(`?filter[personal_subject_eq]=${part!.subject}&personal=open`)
  expect(body).toContain(EMAIL)
  expect(body).not.toContain('c18')
})

it('an invalid filter of the host is an error of the host', async () => {
  const { get, update } = await start({ visible: () => ({ email_eq: EMAIL }) })
  await update('c17')
  const { status, body } = await get('')
  expect(status).toBe(500)
  expect(body).not.toContain(EMAIL)
})

it('conceals opened values', async () => {
  const { get, update } = await start({ authorize: () => true, conceal: () => ['email'] })
  const { id } = await update('c17', 'ann', CHANGE)
  for (const path of pathsOf(id)) {
    const { status, body } = await get(withForm(path, 'open'))
    expect([path, status]).toEqual([path, 200])
    expect(body).toContain('city of c17')
    expect(body).not.toContain(EMAIL)
  }
})

it('shows opened events only of the visible part', async () => {
  const { get, update } = await start({
    authorize: () => true,
    visible: () => ({ customer_id_eq: 'c17' }),
  })
  const shown = await update('c17')
  const hidden = await update('c18')
  expect((await get(`/${shown.id}?personal=open`)).body).toContain(EMAIL)
  expectError(await get(`/${hidden.id}?personal=open`), 404, 'NOT_FOUND')
  expect((await get('?personal=open')).body).not.toContain('c18@example.com')
})

it('answers in the sealed form while the keys are away', async () => {
  const { get, keys, update } = await start()
  const { id } = await update('c17')
  keys.isAway = true
  for (const path of ['', `/${id}`]) {
    expectError(await get(withForm(path, 'open')), 503, 'KEYS_UNAVAILABLE')
    const { status, body } = await get(path)
    expect(status).toBe(200)
    expect(body).toContain('"sealed":true')
  }
})

it('says what was erased', async () => {
  const { get, update, forget } = await start()
  await update('c17')
  const erased = await forget('c17')
  for (const path of ['', '?personal=open']) {
    const { body } = await get(path)
    expect(body).toContain(`"erased":"${erased}"`)
    expect(body).not.toContain(EMAIL)
  }
})

it('notes which reads were opened', async () => {
  const { get, audit, update } = await start(undefined, { ownEvents: { reads: true } })
  await update('c17')
  for (const query of ['?personal=open', '?limit=5', '?personal=open&limit=3']) await get(query)
  const { events } = await audit.list('filter[type_eq]=info:audit_log:read')
  expect(events.map(({ attributes }) => attributes)).toEqual([
    { action: 'list', conditions: [], values: {}, personal: 'open' },
    { action: 'list', conditions: [], values: {} },
  ])
})
