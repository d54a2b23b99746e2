import { once } from 'node:events'
import http from 'node:http'
import { DeliveryError, formatTimestamp } from 'daybook'
import { describe, expect, it, vi } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { JSON_API, type RawRequest } from '../support/http.js'
import { numberedId } from '../support/plain-events.js'
import {
  action,
  CHANNELS,
  metaOf,
  namesOf,
  newSubscription,
  REMOVAL,
  resourceOf,
  serveDelivering,
  serveManagement,
  subscriptionChange,
  SUBSCRIPTIONS,
  withDocument,
} from './managing.js'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

describe('POST /api/subscriptions', () => {
  it('creates a subscription of the user', async () => {
    const server = await serveManagement()
    const response = await server.send(
      SUBSCRIPTIONS,
      newSubscription({
        name: 'errors',
        channel: 'search',
        filter: 'filter[m]=or&filter[type_start]=error',
        from: 'beginning',
        when_stuck: 'hold',
        retain: { days: 30 },
        paused: true,
      }),
    )
    expect([response.status, response.headers['content-type']]).toEqual([201, JSON_API])
    expect(response.headers['cache-control']).toBe('no-store')
    const { type, id, attributes, links } = resourceOf(response)
    expect([type, id]).toEqual(['subscription', expect.stringMatching(UUID)])
    expect(response.headers.location).toBe(`${SUBSCRIPTIONS}/${id}`)
    expect(links.self).toBe(response.headers.location)
    expect(attributes).toEqual({
      name: 'errors',
      channel: 'search',
      filter: 'filter[m]=or&filter[type_start]=error',
      from: 'beginning',
      when_stuck: 'hold',
      retain: { days: 30 },
      paused: true,
      owner: 'ann',
      in_code: false,
      state: 'paused',
      cursor: expect.any(String),
      lag_ms: 0,
      delivered: 0,
      attempts: 0,
      next_attempt_at: null,
      failing_since: null,
      last_error: null,
      parked: 0,
      skipped: 0,
      skipped_since: null,
    })
    const read = await server.send(links.self)
    expect([read.status, resourceOf(read)]).toEqual([200, resourceOf(response)])
    expect(await server.audit.subscriptions.get(id)).toMatchObject({ owner: 'ann', paused: true })
  })

  it('gives defaults to members that are not sent', async () => {
    const server = await serveManagement()
    const id = await server.create('all')
    expect(resourceOf(await server.send(`${SUBSCRIPTIONS}/${id}`)).attributes).toMatchObject({
      filter: '',
      when_stuck: 'park',
      retain: { days: 7 },
      paused: false,
      owner: 'ann',
    })
  })

  it.each([
    ['name', { name: 'No Spaces' }],
    ['name', { name: undefined }],
    ['channel', { channel: 'nowhere' }],
    ['filter', { filter: 'filter[type_equals]=x' }],
    ['filter', { filter: 'type_eq=x' }],
    ['filter', { filter: 'filter[sorts]=type' }],
    ['filter', { filter: { type_eq: 'x' } }],
    ['filter', { filter: null }],
    ['from', { from: 'yesterday' }],
    ['from', { from: null }],
    ['when_stuck', { when_stuck: 'wait' }],
    ['when_stuck', { when_stuck: null }],
    ['retain', { retain: { fortnights: 1 } }],
    ['retain', { retain: 'P7D' }],
    ['paused', { paused: 'yes' }],
    ['whenStuck', { whenStuck: 'hold' }],
    ['state', { state: 'live' }],
    ['in~1code', { 'in/code': true }],
  ])('responds 422 to %s in %o', async (member, given) => {
    const server = await serveManagement()
    const request = newSubscription({ name: 'errors', channel: 'search', ...given })
    const refused = await server.send(SUBSCRIPTIONS, request)
    const pointer = `/data/attributes/${member}`
    const { detail } = expectError(refused, 422, 'INVALID_SUBSCRIPTION', { pointer })
    expect(detail).toContain(member.replace('~1', '/'))
    expect(namesOf(await server.send(SUBSCRIPTIONS))).toEqual([])
  })

  const document = { data: { type: 'subscription', attributes: { name: 'a', channel: 'search' } } }
  const post = (body: unknown): RawRequest => withDocument('POST', body)

  it.each([
    [400, 'MALFORMED_DOCUMENT', { ...post(null), body: '{' }],
    [400, 'MALFORMED_DOCUMENT', post(undefined)],
    [400, 'MALFORMED_DOCUMENT', post([])],
    [400, 'MALFORMED_DOCUMENT', post({})],
    [400, 'MALFORMED_DOCUMENT', post({ data: { type: 'subscription' } })],
    [
      400,
      'MALFORMED_DOCUMENT',
      post({ data: { type: 'subscription', attributes: { name: 'a\0' } } }),
    ],
    [403, 'CLIENT_ID', post({ data: { ...document.data, id: 'mine' } })],
    [406, 'NOT_ACCEPTABLE', { ...post(document), headers: { accept: 'text/html' } }],
    [409, 'WRONG_RESOURCE_TYPE', post({ data: { ...document.data, type: 'event' } })],
    [413, 'BODY_TOO_LARGE', post({ ...document, more: 'x'.repeat(200_000) })],
    [
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      { ...post(document), headers: { 'content-type': 'application/json' } },
    ],
  ])('responds %i %s to a wrong document', async (status, code, request) => {
    const server = await serveManagement()
    expectError(await server.send(SUBSCRIPTIONS, request), status, code)
    expect(namesOf(await server.send(SUBSCRIPTIONS))).toEqual([])
  })

  it('refuses a nested body before it is read further', async () => {
    const server = await serveManagement()
    const body = `{"data":${'['.repeat(60_000)}${']'.repeat(60_000)}}`
    expectError(await server.send(SUBSCRIPTIONS, { ...post({}), body }), 400, 'MALFORMED_DOCUMENT')
  })

  it('responds 409 to a name in use', async () => {
    const server = await serveManagement()
    await server.create('errors')
    const again = newSubscription({ name: 'errors', channel: 'search' })
    expectError(await server.send(SUBSCRIPTIONS, { ...again, user: 'bob' }), 409, 'NAME_TAKEN')
  })

  it('accepts the plural as resource type', async () => {
    const server = await serveManagement()
    const plural = { data: { ...document.data, type: 'subscriptions' } }
    const made = await server.send(SUBSCRIPTIONS, post(plural))
    expect([made.status, resourceOf(made).type]).toEqual([201, 'subscription'])
  })
})

describe('GET /api/subscriptions', () => {
  it('takes the query language, and responds 206 to a part', async () => {
    const server = await serveManagement()
    for (const name of ['a', 'b', 'c']) await server.create(name, { paused: name === 'b' })
    const names = async (query: string): Promise<unknown> => {
      const response = await server.send(`${SUBSCRIPTIONS}?${query}`)
      return [response.status, namesOf(response)]
    }
    expect(await names('')).toEqual([200, ['a', 'b', 'c']])
    expect(await names('filter[state_eq]=paused')).toEqual([200, ['b']])
    expect(await names('filter[retain_days_eq]=7&filter[name_in][]=a')).toEqual([200, ['a']])
    expect(await names('filter[sorts]=name+desc&limit=2')).toEqual([206, ['c', 'b']])
    expect(await names('filter[parked_lt]=1&filter[name_not_eq]=a')).toEqual([200, ['b', 'c']])
  })

  it('has the requested list in links.self', async () => {
    const server = await serveManagement()
    const query = '?filter[name_eq]=a'
    const { body } = await server.send(SUBSCRIPTIONS + query)
    expect(JSON.parse(body)).toMatchObject({ data: [], links: { self: SUBSCRIPTIONS + query } })
    expect((await server.send(`${SUBSCRIPTIONS}/`)).status).toBe(200)
  })

  it('shows the states of subscriptions', async () => {
    const server = await serveDelivering(() => {
      // Long enough that there is no second attempt before the state is read.
      const retryAfterMs = 600_000
      throw new DeliveryError('status', 'status 503', { status: 503, retryAfterMs })
    })
    const id = await server.create('errors', { filter: 'filter[system_false]=1' })
    await server.audit.recordCustom('note', {})
    const failing = async (): Promise<boolean> => {
      const list = await server.send(`${SUBSCRIPTIONS}?filter[state_eq]=failing`)
      return namesOf(list).length === 1
    }
    await expect.poll(failing).toBe(true)
    expect(resourceOf(await server.send(`${SUBSCRIPTIONS}/${id}`)).attributes).toMatchObject({
      state: 'failing',
      attempts: 1,
      last_error: { kind: 'status', status: 503 },
      next_attempt_at: expect.any(String),
    })
  })

  it.each([
    [400, 'UNKNOWN_ATTRIBUTE', '?filter[owners_eq]=x'],
    [400, 'UNKNOWN_PARAMETER', '?page[size]=1'],
    [400, 'INVALID_VALUE', '?limit=0'],
    [400, 'UNKNOWN_PARAMETER', '/me?filter[name_eq]=a'],
    [404, 'UNKNOWN_SUBSCRIPTION', '/00000000-0000-4000-8000-000000000000'],
    [404, 'UNKNOWN_SUBSCRIPTION', '/%20'],
    [404, 'NOT_FOUND', '/a/b'],
    [404, 'NOT_FOUND', '/a/parked/b'],
  ])('responds %i %s to %s', async (status, code, path) => {
    const server = await serveManagement()
    expectError(await server.send(SUBSCRIPTIONS + path), status, code)
  })

  it('responds 405 with the methods that a path takes', async () => {
    const server = await serveManagement()
    const id = await server.create('a')
    for (const [path, allow] of [
      [SUBSCRIPTIONS, 'GET, HEAD, POST'],
      [`${SUBSCRIPTIONS}/${id}`, 'GET, HEAD, PATCH, DELETE'],
      [`${SUBSCRIPTIONS}/${id}/pause`, 'POST'],
      [`${SUBSCRIPTIONS}/${id}/parked`, 'GET, HEAD'],
      [CHANNELS, 'GET, HEAD, POST'],
    ] as const) {
      const refused = await server.send(path, { method: 'PUT' })
      expect([refused.status, refused.headers.allow]).toEqual([405, allow])
    }
  })

  it('has an entity tag, and answers HEAD', async () => {
    const server = await serveManagement()
    const id = await server.create('a', { paused: true })
    for (const path of [SUBSCRIPTIONS, `${SUBSCRIPTIONS}/${id}`, `${SUBSCRIPTIONS}/openapi.json`]) {
      const { etag } = (await server.send(path)).headers
      const same = await server.send(path, { headers: { 'if-none-match': etag } })
      expect([same.status, same.body]).toEqual([304, ''])
      const head = await server.send(path, { method: 'HEAD' })
      expect([head.status, head.headers.etag, head.body]).toEqual([200, etag, ''])
      const packed = await server.send(path, { headers: { 'accept-encoding': 'br;q=1, *;q=0' } })
      expect([packed.status, packed.headers['content-encoding']]).toEqual([200, 'br'])
    }
  })
})

describe('PATCH /api/subscriptions/<id>', () => {
  it('changes the members that are sent', async () => {
    const server = await serveManagement()
    const path = `${SUBSCRIPTIONS}/${await server.create('errors', { retain: null })}`
    const before = resourceOf(await server.send(path))
    const change = { filter: 'filter[type_eq]=x', when_stuck: 'hold' }
    const changed = await server.send(path, subscriptionChange(change))
    expect(changed.status).toBe(200)
    expect(resourceOf(changed).attributes).toMatchObject({
      ...change,
      name: 'errors',
      channel: 'search',
      retain: null,
      owner: 'ann',
      from: before.attributes['from'],
    })
    expect(resourceOf(await server.send(path)).attributes).toMatchObject(change)
    const renamed = await server.send(path, subscriptionChange({ name: 'failures' }))
    expect(resourceOf(renamed).attributes).toMatchObject({ ...change, name: 'failures' })
  })

  it.each([
    ['filter', { filter: 'filter[type_equals]=x' }],
    ['filter', { filter: 'filter[type_start]=x&filter[tenant_eq]=' }],
    ['channel', { channel: 'nowhere' }],
    ['when_stuck', { when_stuck: 'wait' }],
    ['paused', { paused: true }],
    ['from', { from: 'beginning' }],
    ['state', { state: 'live' }],
  ])('responds 422 to %s in %o', async (member, given) => {
    const server = await serveManagement()
    const path = `${SUBSCRIPTIONS}/${await server.create('errors')}`
    const before = resourceOf(await server.send(path)).attributes
    const refused = await server.send(path, subscriptionChange(given))
    const pointer = `/data/attributes/${member}`
    expectError(refused, 422, 'INVALID_SUBSCRIPTION', { pointer })
    const after = resourceOf(await server.send(path)).attributes
    expect([after['filter'], after['channel']]).toEqual([before['filter'], before['channel']])
  })

  it('responds 409 to the id of another, and to a name in use', async () => {
    const server = await serveManagement()
    const id = await server.create('errors')
    await server.create('others')
    const path = `${SUBSCRIPTIONS}/${id}`
    const data = { type: 'subscription', attributes: { filter: '' } }
    const patch = (more: object) => withDocument('PATCH', { data: { ...data, ...more } })
    expectError(await server.send(path, patch({ id: 'other' })), 409, 'WRONG_RESOURCE_ID')
    expect((await server.send(path, patch({ id }))).status).toBe(200)
    const taken = await server.send(path, patch({ attributes: { name: 'others' } }))
    expectError(taken, 409, 'NAME_TAKEN')
  })
})

describe('a subscription in code', () => {
  it('can be read and paused, but not changed or removed', async () => {
    const server = await serveManagement({
      subscriptions: { subscriptions: { index: { channel: 'search' } } },
    })
    const stored = async () => namesOf(await server.send(SUBSCRIPTIONS))
    await expect.poll(stored).toEqual(['index'])
    const [{ id } = { id: '' }] = await server.audit.subscriptions.list()
    const path = `${SUBSCRIPTIONS}/${id}`
    expect(resourceOf(await server.send(path)).attributes).toMatchObject({
      owner: null,
      in_code: true,
    })
    for (const request of [subscriptionChange({ filter: '' }), REMOVAL]) {
      expectError(await server.send(path, request), 409, 'DEFINED_IN_CODE')
    }
    const paused = await server.send(`${path}/pause`, action())
    expect(resourceOf(paused).attributes).toMatchObject({ paused: true, state: 'paused' })
  })
})

describe('actions on a subscription', () => {
  it('pause, resume and remove it', async () => {
    const server = await serveManagement()
    const path = `${SUBSCRIPTIONS}/${await server.create('errors')}`
    const paused = await server.send(`${path}/pause`, action())
    expect([paused.status, resourceOf(paused).attributes['state']]).toEqual([200, 'paused'])
    const resumed = await server.send(`${path}/resume`, action({}))
    expect([resumed.status, resourceOf(resumed).attributes['paused']]).toEqual([200, false])
    const removed = await server.send(path, REMOVAL)
    expect([removed.status, removed.body]).toEqual([204, ''])
    expect((await server.send(path)).status).toBe(404)
    expect((await server.send(path, REMOVAL)).status).toBe(404)
  })

  it('replay delivers events again', async () => {
    const delivered: string[] = []
    const server = await serveDelivering(
      (events) => void delivered.push(...events.map(({ id }) => id)),
    )
    const first = await server.audit.recordCustom('note', {})
    const id = await server.create('notes', { filter: 'filter[type_eq]=note' })
    const path = `${SUBSCRIPTIONS}/${id}`
    const replayed = await server.send(`${path}/replay`, action({ from: first!.created_at }))
    expect([replayed.status, resourceOf(replayed).id]).toEqual([200, id])
    await expect.poll(() => delivered).toEqual([first!.id])
    for (const from of ['tomorrow', '2026-13-01']) {
      const refused = await server.send(`${path}/replay`, action({ from }))
      expectError(refused, 422, 'INVALID_SUBSCRIPTION', { pointer: '/meta/from' })
    }
  })

  it('test delivers one event that is not stored', async () => {
    const server = await serveManagement()
    await server.createChannel('pad')
    const id = await server.create('errors', { channel: 'pad', filter: 'filter[type_eq]=none' })
    const tested = await server.send(`${SUBSCRIPTIONS}/${id}/test`, action())
    expect([tested.status, metaOf(tested)]).toEqual([
      200,
      { accepted: true, status: null, fault: null, duration_ms: expect.any(Number) },
    ])
    expect(server.pages.get('pad')).toMatchObject([{ type: 'daybook:test' }])
    const { events } = await server.audit.list('filter[type_eq]=daybook:test')
    expect(events).toEqual([])
  })

  it('redrive delivers parked events and discard forgets them', async () => {
    const delivered: string[] = []
    const server = await serveDelivering((events) => {
      const { type, id } = events[0]!
      if (type === 'poison') throw new DeliveryError('status', 'no', { permanent: true })
      delivered.push(id)
    })
    const right = (await server.audit.recordCustom('note', {}))!
    const wrong = (await server.audit.recordCustom('poison', {}))!
    const id = await server.create('notes', { paused: true })
    await server.park(id, { event_id: right.id }, { event_id: wrong.id }, {})
    const path = `${SUBSCRIPTIONS}/${id}`
    const idsOf = async (query = '') => {
      const { status, body } = await server.send(`${path}/parked${query}`)
      return [status, (JSON.parse(body) as { data: { id: string }[] }).data.map((one) => one.id)]
    }
    const gone = '00000000-0000-4000-8000-000000000002'
    expect(await idsOf()).toEqual([200, [right.id, wrong.id, gone]])
    expect(await idsOf('?limit=1')).toEqual([206, [right.id]])
    expect(await idsOf('?filter[sorts]=created_at+desc&limit=2')).toEqual([206, [gone, wrong.id]])
    expect(await idsOf(`?filter[id_eq]=${wrong.id}`)).toEqual([200, [wrong.id]])

    const one = await server.send(`${path}/redrive`, action({ which: [right.id] }))
    expect([one.status, metaOf(one)]).toEqual([200, { delivered: 1, failed: 0, missed: 0 }])
    expect(delivered).toEqual([right.id])
    const rest = await server.send(`${path}/redrive`, action({ which: 'all' }))
    expect(metaOf(rest)).toEqual({ delivered: 0, failed: 1, missed: 1 })
    expect(await idsOf()).toEqual([200, [wrong.id]])
    expect(resourceOf(await server.send(path)).attributes['parked']).toBe(1)

    const discarded = await server.send(`${path}/discard`, action({ which: 'all' }))
    expect([discarded.status, metaOf(discarded)]).toEqual([200, { discarded: 1 }])
    expect(await idsOf()).toEqual([200, []])
  })

  it('lists all parked events, although the log gives at most 1,000 at once', async () => {
    const server = await serveDelivering(() => {})
    const id = await server.create('notes', { paused: true })
    const all = Array.from({ length: 2001 }, (_, n) => {
      const at = formatTimestamp(1_767_225_600_000_000 + n)
      const last_error = { at, kind: 'status', status: 422 } as const
      const times = { created_at: at, parked_at: at }
      return { event_id: numberedId(n), ...times, attempts: 3, error: 'no', last_error }
    })
    vi.spyOn(server.audit.subscriptions, 'parked').mockImplementation(
      async (_id, { after = '', limit } = {}) =>
        all.filter(({ created_at }) => created_at > after).slice(0, limit),
    )
    const newest = '?filter[sorts]=created_at+desc&limit=1'
    const { body } = await server.send(`${SUBSCRIPTIONS}/${id}/parked${newest}`)
    expect(JSON.parse(body)).toMatchObject({ data: [{ id: numberedId(2000) }] })
  })

  it('redrive ends when the client disconnects, and the rest stays parked', async () => {
    const delivered: string[] = []
    let arrive = (): void => {}
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    const server = await serveDelivering(async ([event], { signal }) => {
      if (delivered.length > 0) {
        arrive()
        await once(signal, 'abort')
        throw signal.reason
      }
      delivered.push(event!.id)
    })
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.push((await server.audit.recordCustom('note', {}))!.id)
    const id = await server.create('notes', { paused: true })
    await server.park(id, ...ids.map((event_id) => ({ event_id })))
    const path = `${SUBSCRIPTIONS}/${id}`
    const { method, headers, body } = action({ which: 'all' })
    const client = http.request(server.url + path + '/redrive', {
      auth: 'ann:ann',
      method,
      headers,
      agent: false,
    })
    const closed = once(client, 'error')
    client.end(body)
    await arrived
    client.destroy(new Error('the client leaves'))
    await closed
    const parked = async (): Promise<unknown> =>
      (await server.audit.subscriptions.parked(id)).map(({ event_id }) => event_id)
    await expect.poll(parked).toEqual(ids.slice(1))
    expect(delivered).toEqual(ids.slice(0, 1))
    const recorded = async (): Promise<unknown> =>
      (await server.audit.list('filter[type_eq]=api:subscriptions:redrive')).events
    await expect
      .poll(recorded)
      .toMatchObject([{ username: 'ann', attributes: { delivered: 1, failed: 1, missed: 0 } }])
  })

  it.each([
    ['redrive', undefined, '/meta/which'],
    ['redrive', { which: 'some' }, '/meta/which'],
    ['discard', {}, '/meta/which'],
    ['discard', { which: [1] }, '/meta/which'],
    ['discard', { which: 'all', of: 'x' }, '/meta/of'],
    ['pause', { until: 'monday' }, '/meta/until'],
    ['replay', { from: 5 }, '/meta/from'],
  ])('respond 400 to %s with %o', async (name, meta, pointer) => {
    const server = await serveManagement()
    const path = `${SUBSCRIPTIONS}/${await server.create('errors')}/${name}`
    expectError(await server.send(path, action(meta)), 400, 'MALFORMED_DOCUMENT', { pointer })
  })

  it('need the media type, because pages of other sites cannot send it', async () => {
    const server = await serveManagement()
    const path = `${SUBSCRIPTIONS}/${await server.create('errors')}`
    for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded']) {
      const headers = type === undefined ? {} : { 'content-type': type }
      const refused = await server.send(`${path}/pause`, { method: 'POST', headers })
      expectError(refused, 415, 'UNSUPPORTED_MEDIA_TYPE')
    }
    expect(resourceOf(await server.send(path)).attributes['paused']).toBe(false)
  })
})

describe('the cursor of a subscription', () => {
  it('is shown only for an event that the owner may see', async () => {
    const { audit, send, create } = await serveManagement({
      routes: { authorize: ({ state }) => (state['username'] === 'eve' ? 'all' : true) },
      subscriptions: { visible: (owner) => ({ username_eq: owner }) },
    })
    const own = (await audit.recordCustom('own', {}, { username: 'bob' }))!.created_at
    const path = `${SUBSCRIPTIONS}/${await create('mine', {}, 'bob')}`
    const hidden = (await audit.recordCustom('hidden', {}, { username: 'ann' }))!.created_at
    const cursorOf = async (user: string): Promise<unknown> =>
      resourceOf(await send(path, { user })).attributes['cursor']
    await expect.poll(() => cursorOf('eve')).toSatisfy((it) => it >= hidden)
    // The creation of the subscription is bob's last event.
    const newest = (await audit.list('filter[username_eq]=bob&limit=1')).events[0]!.created_at
    expect(newest > own && newest < hidden).toBe(true)
    const body = JSON.stringify([
      (await send(path, { user: 'bob' })).body,
      (await send(SUBSCRIPTIONS, { user: 'bob' })).body,
      (await send(`${path}/pause`, { ...action(), user: 'bob' })).body,
    ])
    expect(body).not.toContain(hidden)
    expect(await cursorOf('bob')).toBe(newest)
  })
})
