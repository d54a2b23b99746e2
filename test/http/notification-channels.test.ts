import { describe, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { JSON_API } from '../support/http.js'
import {
  action,
  channelChange,
  CHANNELS,
  metaOf,
  namesOf,
  newChannel,
  REMOVAL,
  resourceOf,
  serveManagement,
  SUBSCRIPTIONS,
  withDocument,
} from './managing.js'

const pad = { name: 'pad', kind: 'notebook', config: { page: 'one', password: 'pa55word' } }

describe('POST /api/notification_channels', () => {
  it('creates a channel, and shows a generated secret once', async () => {
    const server = await serveManagement()
    const made = await server.send(CHANNELS, newChannel(pad))
    expect([made.status, made.headers['content-type']]).toEqual([201, JSON_API])
    expect(made.headers['cache-control']).toBe('no-store')
    expect(metaOf(made)).toEqual({ secret: 'nb_1' })
    const { type, attributes, links } = resourceOf(made)
    expect([type, made.headers.location]).toEqual(['notification_channel', links.self])
    expect(attributes).toEqual({
      name: 'pad',
      kind: 'notebook',
      config: { page: 'one' },
      enabled: true,
      disabled_reason: null,
      in_code: false,
    })
    expect(made.body).not.toContain('pa55word')
    const read = await server.send(links.self)
    expect([read.status, resourceOf(read), metaOf(read)]).toEqual([
      200,
      resourceOf(made),
      undefined,
    ])
    const changed = await server.send(links.self, channelChange({ config: { page: 'two' } }))
    expect([changed.status, metaOf(changed)]).toEqual([200, undefined])
    const seen = [read, changed, await server.send(CHANNELS)].map(({ body }) => body).join()
    expect(seen).not.toMatch(/nb_1|pa55word/)
  })

  it.each([
    ['name', { name: 'No Spaces' }],
    ['name', { name: undefined }],
    ['kind', { kind: 'pager' }],
    ['kind', { kind: 5 }],
    ['config', { config: 'x' }],
    ['config/page', { config: {} }],
    ['config/pages', { config: { page: 'x', pages: 2 } }],
    ['enabled', { enabled: false }],
    ['secret', { secret: 'mine' }],
  ])('responds 422 to %s in %o', async (member, given) => {
    const server = await serveManagement()
    const refused = await server.send(CHANNELS, newChannel({ ...pad, ...given }))
    expectError(refused, 422, 'INVALID_CHANNEL', { pointer: `/data/attributes/${member}` })
    expect(namesOf(await server.send(CHANNELS))).toEqual(['search'])
  })

  it('responds 409 to a used name, also to the name of a channel in code', async () => {
    const server = await serveManagement()
    await server.createChannel('pad')
    for (const name of ['pad', 'search']) {
      expectError(await server.send(CHANNELS, newChannel({ ...pad, name })), 409, 'NAME_TAKEN')
    }
  })

  it('responds 422 to secrets without a key', async () => {
    const server = await serveManagement({ subscriptions: { secretsKey: [] } })
    expectError(await server.send(CHANNELS, newChannel(pad)), 422, 'NO_SECRETS_KEY')
  })
})

describe('GET /api/notification_channels', () => {
  it('lists channels of users and of the code, in the query language', async () => {
    const server = await serveManagement()
    await server.createChannel('pad', { page: 'one' })
    const names = async (query: string): Promise<unknown> => {
      const response = await server.send(`${CHANNELS}?${query}`)
      return [response.status, namesOf(response)]
    }
    expect(await names('')).toEqual([200, ['pad', 'search']])
    expect(await names('filter[in_code_true]=1')).toEqual([200, ['search']])
    expect(await names('filter[config_page_eq]=one')).toEqual([200, ['pad']])
    expect(await names('filter[sorts]=name+desc&limit=1')).toEqual([206, ['search']])
    expectError(await server.send(`${CHANNELS}?filter[secret_eq]=nb_1`), 400, 'UNKNOWN_ATTRIBUTE')
  })
})

describe('requests to one channel', () => {
  it('PATCH merges attributes and members of config', async () => {
    const server = await serveManagement()
    const path = `${CHANNELS}/${await server.createChannel('pad', { page: 'one', password: 'a' })}`
    const renamed = await server.send(path, channelChange({ name: 'book' }))
    expect(resourceOf(renamed).attributes).toMatchObject({ name: 'book', config: { page: 'one' } })
    const moved = await server.send(path, channelChange({ config: { page: 'two' } }))
    expect(resourceOf(moved).attributes).toMatchObject({ name: 'book', config: { page: 'two' } })
    const kind = { pointer: '/data/attributes/kind' }
    const refused = await server.send(path, channelChange({ kind: 'webhook' }))
    expectError(refused, 422, 'INVALID_CHANNEL', kind)
    const page = { pointer: '/data/attributes/config/page' }
    const wrong = await server.send(path, channelChange({ config: { page: 5 } }))
    expectError(wrong, 422, 'INVALID_CHANNEL', page)
  })

  it('disable it, with a reason, and enable it', async () => {
    const server = await serveManagement()
    const path = `${CHANNELS}/${await server.createChannel('pad')}`
    const disabled = await server.send(`${path}/disable`, action({ reason: 'it moves' }))
    expect([disabled.status, resourceOf(disabled).attributes]).toMatchObject([
      200,
      { enabled: false, disabled_reason: 'it moves' },
    ])
    const subscription = await server.create('errors', { channel: 'pad' })
    const read = await server.send(`${SUBSCRIPTIONS}/${subscription}`)
    expect(resourceOf(read).attributes['state']).toBe('disabled')
    const enabled = await server.send(`${path}/enable`, action())
    expect([enabled.status, resourceOf(enabled).attributes]).toMatchObject([
      200,
      { enabled: true, disabled_reason: null },
    ])
    const wrong = await server.send(`${path}/disable`, action({ reason: 5 }))
    expectError(wrong, 400, 'MALFORMED_DOCUMENT', { pointer: '/meta/reason' })
  })

  it('replace its secret', async () => {
    const server = await serveManagement()
    const path = `${CHANNELS}/${await server.createChannel('pad')}`
    const rotated = await server.send(`${path}/rotate_secret`, action())
    expect([rotated.status, metaOf(rotated)]).toEqual([200, { secret: 'nb_2' }])
    expect(metaOf(await server.send(path))).toBeUndefined()
  })

  it('test it', async () => {
    const server = await serveManagement()
    const path = `${CHANNELS}/${await server.createChannel('pad')}`
    const tested = await server.send(`${path}/test`, action())
    expect(metaOf(tested)).toMatchObject({ accepted: true, fault: null })
    expect(server.pages.get('pad')).toMatchObject([{ type: 'daybook:test' }])
    await server.send(path, channelChange({ config: { page: 'full' } }))
    const failed = await server.send(`${path}/test`, action())
    expect([failed.status, metaOf(failed)]).toEqual([
      200,
      { accepted: false, status: null, fault: 'thrown', duration_ms: expect.any(Number) },
    ])
  })

  it('remove it, unless a subscription uses it', async () => {
    const server = await serveManagement()
    const path = `${CHANNELS}/${await server.createChannel('pad')}`
    const user = `${SUBSCRIPTIONS}/${await server.create('errors', { channel: 'pad' })}`
    expectError(await server.send(path, REMOVAL), 409, 'IN_USE')
    await server.send(user, REMOVAL)
    expect((await server.send(path, REMOVAL)).status).toBe(204)
    for (const [where, request] of [
      [path, {}],
      [path, REMOVAL],
      [`${path}/enable`, action()],
    ] as const) {
      expectError(await server.send(where, request), 404, 'UNKNOWN_CHANNEL')
    }
  })

  it('are refused for one in code', async () => {
    const server = await serveManagement()
    const [{ id } = { id: '' }] = await server.audit.subscriptions.channels.list()
    const path = `${CHANNELS}/${id}`
    for (const [where, request] of [
      [path, channelChange({ name: 'find' })],
      [path, REMOVAL],
      [`${path}/rotate_secret`, action()],
    ] as const) {
      expectError(await server.send(where, request), 409, 'DEFINED_IN_CODE')
    }
    const document = { data: { type: 'subscription', attributes: { name: 'find' } } }
    const wrong = await server.send(path, withDocument('PATCH', document))
    expectError(wrong, 409, 'WRONG_RESOURCE_TYPE')
  })
})

describe('the URL of a channel', () => {
  const page = 'https://hooks.example:8443/services/T0/hidden?token=hidden#hidden'
  const server = () =>
    serveManagement({
      routes: {
        authorize: ({ state }, name) =>
          state['username'] === 'ann' || name !== 'notification_channels:update',
      },
    })

  it('is shown without path and query to users who may not change the channel', async () => {
    const { send, createChannel } = await server()
    const path = `${CHANNELS}/${await createChannel('pad', { page })}`
    await send(path, { ...action({ reason: `not ${page}` }), user: 'ann' })
    const requests: [path: string, request: object][] = [
      [path, {}],
      [CHANNELS, {}],
      [`${path}/enable`, action()],
      [`${path}/disable`, action({ reason: `see ${page}` })],
      [`${path}/rotate_secret`, action()],
      [CHANNELS, newChannel({ name: 'other', kind: 'notebook', config: { page } })],
    ]
    for (const [to, request] of requests) {
      const response = await send(to, { ...request, user: 'bob' })
      expect(response.status, to).toBeLessThan(300)
      expect(response.body, to).toContain('"page":"https://hooks.example:8443"')
      expect(response.body, to).not.toContain('hidden')
    }
    const whole = resourceOf(await send(path)).attributes
    expect([whole['config'], whole['disabled_reason']]).toEqual([{ page }, `see ${page}`])
  })

  it('cannot be found out by filters and sorts', async () => {
    const { send, createChannel } = await server()
    await createChannel('pad', { page })
    const query = 'filter[config_page_cont]=hidden'
    expect(namesOf(await send(`${CHANNELS}?${query}`))).toEqual(['pad'])
    expect(namesOf(await send(`${CHANNELS}?${query}`, { user: 'bob' }))).toEqual([])
  })

  it('is in no event', async () => {
    const { audit, send, createChannel, create } = await server()
    const id = await createChannel('pad', { page: 'full' })
    const path = `${CHANNELS}/${id}`
    await create('mine', { channel: 'pad' })
    await send(path, channelChange({ config: { page } }))
    await send(path, channelChange({ config: { page: page.replaceAll('hidden', 'hidden2') } }))
    const { events } = await audit.list('filter[type_start]=api:notification_channels:update')
    const shown = 'https://hooks.example:8443'
    expect(events.map(({ attributes }) => attributes['changes'])).toEqual([
      [{ op: 'replace', path: '/config/page', value: shown, old_value: 'full' }],
      [{ op: 'replace', path: '/config/page', value: shown, old_value: shown }],
    ])
    expect(JSON.stringify((await audit.list('limit=1000')).events)).not.toContain('hidden')
  })
})
