import Kitsu from 'kitsu'
import { describe, expect, it } from 'vitest'
import { CHANNELS, KEY, type ManagedServer, serveManagement, SUBSCRIPTIONS } from '../managing.js'

/* kitsu as it comes from npm, against the endpoints for subscriptions and channels. */

const client = ({ url }: ManagedServer): Kitsu =>
  new Kitsu({
    baseURL: `${url}/api`,
    axiosOptions: { auth: { username: 'ann', password: 'ann' } },
    // The paths and types of this service are in snake case.
    resourceCase: 'snake',
    camelCaseTypes: false,
  })

interface Answer<Data = Readonly<Record<string, unknown>>> {
  readonly data: Data
  readonly meta?: { readonly secret?: string }
  readonly status: number
}

interface Refusal {
  readonly response: { readonly status: number }
  readonly errors: readonly { readonly code: string; readonly source: object }[]
}

const refusal = (request: Promise<unknown>): Promise<Refusal> =>
  request.then(
    () => expect.unreachable('it was not refused'),
    (error: unknown) => error as Refusal,
  )

describe('kitsu', () => {
  it('creates, lists, changes and removes subscriptions', async () => {
    const api = client(await serveManagement({ subscriptions: { secretsKey: KEY } }))
    const given = { name: 'errors', channel: 'search', filter: 'filter[type_start]=error' }
    const made = (await api.create('subscriptions', given)) as Answer
    expect([made.status, made.data]).toMatchObject([
      201,
      { ...given, type: 'subscription', owner: 'ann', when_stuck: 'park' },
    ])
    await api.create('subscriptions', { name: 'all', channel: 'search' })
    const params = { filter: { name_in: ['errors', 'none'], sorts: 'name desc' } }
    const list = (await api.get('subscriptions', { params })) as Answer<readonly object[]>
    expect([list.status, list.data]).toMatchObject([200, [given]])
    const id = made.data['id'] as string
    const change = { id, when_stuck: 'hold' }
    const changed = (await api.update('subscriptions', change)) as Answer
    expect(changed.data).toMatchObject({ ...given, when_stuck: 'hold' })
    const read = (await api.get(`subscriptions/${id}`)) as Answer
    expect(read.data).toMatchObject({ ...given, when_stuck: 'hold' })
    await api.delete('subscriptions', id)
    const { response, errors } = await refusal(api.get(`subscriptions/${id}`))
    expect([response.status, errors[0]?.code]).toEqual([404, 'UNKNOWN_SUBSCRIPTION'])
  })

  it('creates channels and gets their secret', async () => {
    const api = client(await serveManagement())
    const given = { name: 'pad', kind: 'notebook', config: { page: 'one' } }
    const made = (await api.create('notification_channels', given)) as Answer
    expect([made.status, made.data, made.meta]).toMatchObject([201, given, { secret: 'nb_1' }])
    const change = { id: made.data['id'] as string, config: { page: 'two' } }
    const changed = (await api.update('notification_channels', change)) as Answer
    expect(changed.data).toMatchObject({ ...given, ...change })
  })

  it('gets the pointer of a wrong attribute', async () => {
    const api = client(await serveManagement())
    const wrong = { name: 'errors', channel: 'search', filter: 'filter[type_equals]=x' }
    const { response, errors } = await refusal(api.create('subscriptions', wrong))
    expect([response.status, errors]).toMatchObject([
      422,
      [{ code: 'INVALID_SUBSCRIPTION', source: { pointer: '/data/attributes/filter' } }],
    ])
  })

  it('acts with its axios instance', async () => {
    const server = await serveManagement()
    const api = client(server)
    const path = `${SUBSCRIPTIONS}/${await server.create('errors')}`
    const post = (url: string, document: object) =>
      api.axios.post(server.url + url, document, { headers: api.headers as {} })
    const paused = await post(`${path}/pause`, {})
    expect([paused.status, paused.data.data.attributes.paused]).toEqual([200, true])
    const channel = `${CHANNELS}/${await server.createChannel('pad')}`
    const tested = await post(`${channel}/test`, {})
    expect(tested.data.meta.accepted).toBe(true)
  })
})
