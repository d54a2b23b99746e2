import type { Context } from 'koa'
import { describe, expect, it } from 'vitest'
import { SUBSCRIPTIONS_ACTIONS } from '../../src/http/subscriptions/actions.js'
import { expectError } from '../support/expect-error.js'
import type { RawRequest } from '../support/http.js'
import {
  action,
  CHANNELS,
  type ManagedServer,
  namesOf,
  newSubscription,
  REMOVAL,
  requests,
  resourceOf,
  serveManagement,
  subscriptionChange,
  SUBSCRIPTIONS,
} from './managing.js'

describe('authorize', () => {
  it('receives the action and decides about it', async () => {
    const calls: unknown[] = []
    let answer: boolean | 'all' = 'all'
    const server = await serveManagement({
      routes: {
        async authorize(ctx: Context, of) {
          calls.push([ctx.state['username'], of])
          return answer
        },
      },
    })
    const all = requests(await server.create('mine'), await server.createChannel('pad'))
    calls.length = 0
    expect(all.map(([name]) => name).toSorted()).toEqual(SUBSCRIPTIONS_ACTIONS.toSorted())
    for (const [name, path, request] of all) {
      answer = false
      const refused = await server.send(path, { ...request, user: 'bob' })
      const { detail } = expectError(refused, 403, 'FORBIDDEN')
      expect(detail).toBe(`bob is not allowed the action ${name}`)
      answer = 'all'
      const answered = await server.send(path, request)
      expect([answered.status < 300, name, answered.body]).toEqual([true, name, answered.body])
      // A user who may change a channel sees its whole URL.
      const isShown = /^notification_channels:(?!delete|test)/.test(name)
      expect(calls.splice(0)).toEqual([
        ['bob', name],
        ['ann', name],
        ...(isShown ? [['ann', 'notification_channels:update']] : []),
      ])
    }
  })

  it('that is missing lets users read, but not change anything', async () => {
    const server = await serveManagement({ routes: {} })
    const { subscriptions } = server.audit
    const { id } = await subscriptions.create({ name: 'mine', channel: 'search', owner: 'ann' })
    const pad = { name: 'pad', kind: 'notebook', config: { page: 'pad' } }
    const { channel } = await subscriptions.channels.create(pad)
    const allowed: string[] = []
    for (const [name, path, request] of requests(id, channel.id)) {
      const { status } = await server.send(path, request)
      expect([200, 403]).toContain(status)
      if (status === 200) allowed.push(name)
    }
    expect(allowed).toEqual([
      'subscriptions:list',
      'subscriptions:read',
      'subscriptions:parked',
      'subscriptions:describe',
      'notification_channels:list',
      'notification_channels:read',
    ])
    expect(namesOf(await server.send(SUBSCRIPTIONS))).toEqual(['mine'])
    expect(namesOf(await server.send(SUBSCRIPTIONS, { user: 'bob' }))).toEqual([])
  })
})

describe('a user who may use their own subscriptions', () => {
  async function startOwn(): Promise<ManagedServer & { ofAnn: string; ofBob: string }> {
    const server = await serveManagement({
      routes: { authorize: (ctx: Context) => (ctx.state['username'] === 'eve' ? 'all' : true) },
      subscriptions: { subscriptions: { index: { channel: 'search' } } },
    })
    const ofAnn = await server.create('ann-errors', {}, 'ann')
    const ofBob = await server.create('bob-errors', {}, 'bob')
    return { ...server, ofAnn, ofBob }
  }

  it('sees only own subscriptions; a user with all rights also sees the subscriptions in code', async () => {
    const server = await startOwn()
    expect(namesOf(await server.send(SUBSCRIPTIONS))).toEqual(['ann-errors'])
    expect(namesOf(await server.send(SUBSCRIPTIONS, { user: 'bob' }))).toEqual(['bob-errors'])
    const all = ['ann-errors', 'bob-errors', 'index']
    expect(namesOf(await server.send(SUBSCRIPTIONS, { user: 'eve' }))).toEqual(all)
    const filtered = await server.send(`${SUBSCRIPTIONS}?filter[owner_eq]=bob`)
    expect(namesOf(filtered)).toEqual([])
    expect(
      resourceOf(await server.send(`${SUBSCRIPTIONS}/${server.ofAnn}`)).attributes,
    ).toMatchObject({ owner: 'ann', name: 'ann-errors' })
  })

  it('gets 404 for every request to subscriptions of other users, and changes nothing', async () => {
    const server = await startOwn()
    const before = await server.send(`${SUBSCRIPTIONS}/${server.ofBob}`, { user: 'bob' })
    const missing = '00000000-0000-4000-8000-000000000000'
    const one = /^subscriptions:(?!list|create|describe)/
    const toOthers = requests(server.ofBob, missing).filter(([name]) => one.test(name))
    expect(toOthers.length).toBeGreaterThan(9)
    for (const [, path, request] of toOthers) {
      const refused = await server.send(path, request)
      expectError(refused, 404, 'UNKNOWN_SUBSCRIPTION')
      const absent = await server.send(path.replace(server.ofBob, missing), request)
      expect(absent.body).toBe(refused.body.replaceAll(server.ofBob, missing))
    }
    const after = await server.send(`${SUBSCRIPTIONS}/${server.ofBob}`, { user: 'bob' })
    expect(resourceOf(after).attributes).toMatchObject({
      name: resourceOf(before).attributes['name'],
      paused: false,
      filter: '',
    })
  })

  it('cannot create a subscription in the name of another user', async () => {
    const server = await startOwn()
    const request = newSubscription({ name: 'x', channel: 'search', owner: 'bob' })
    const refused = await server.send(SUBSCRIPTIONS, request)
    const pointer = '/data/attributes/owner'
    expectError(refused, 422, 'INVALID_SUBSCRIPTION', { pointer })
    const change = subscriptionChange({ owner: 'bob' })
    expect((await server.send(`${SUBSCRIPTIONS}/${server.ofAnn}`, change)).status).toBe(422)
  })

  it('limits the deliveries to the events that the owner may see by `visible` of the log', async () => {
    const asked: string[] = []
    const delivered: string[] = []
    let arrive = (): void => {}
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    const server = await serveManagement({
      subscriptions: {
        channels: {
          search: {
            deliver(events) {
              delivered.push(...events.map(({ type }) => type))
              if (delivered.includes('end')) arrive()
            },
          },
        },
        visible(owner) {
          asked.push(owner)
          return { username_eq: owner }
        },
      },
    })
    await server.create('mine', { filter: 'filter[system_false]=1' })
    await server.audit.recordCustom('of bob', {}, { username: 'bob' })
    await server.audit.recordCustom('of ann', {}, { username: 'ann' })
    await server.audit.recordCustom('end', {}, { username: 'ann' })
    await arrived
    expect(asked).toContain('ann')
    expect(delivered).toEqual(['of ann', 'end'])
  })
})

describe('GET /api/subscriptions/me', () => {
  it('has the rights of the user for each action', async () => {
    const server = await serveManagement({
      routes: {
        authorize: (ctx: Context, of) => ctx.state['username'] === 'ann' && !of.endsWith(':delete'),
      },
    })
    const { type, id, attributes } = resourceOf(await server.send(`${SUBSCRIPTIONS}/me`))
    expect([type, id]).toEqual(['user', 'ann'])
    expect(attributes['kinds']).toEqual(['notebook'])
    expect(attributes['may']).toEqual(
      Object.fromEntries(SUBSCRIPTIONS_ACTIONS.map((name) => [name, !name.endsWith(':delete')])),
    )
    const other = await server.send(`${SUBSCRIPTIONS}/me`, { user: 'bob' })
    expect(Object.values(resourceOf(other).attributes['may'] as object)).not.toContain(true)
  })
})

describe('requests', () => {
  it('leave no event of recordRequests; changes leave an event with the user', async () => {
    const server = await serveManagement()
    const eventsOf = async () => (await server.audit.list('limit=1000')).events
    const typesOf = async () => (await eventsOf()).map(({ type, username }) => [type, username])
    const refused: readonly (readonly [path: string, request: RawRequest])[] = [
      [SUBSCRIPTIONS, newSubscription({ name: 'NO' })],
      [`${CHANNELS}/x`, REMOVAL],
      [`${SUBSCRIPTIONS}/x/pause`, action()],
    ]
    for (const [path, request] of refused)
      expect((await server.send(path, request)).status).toBeGreaterThan(400)
    await server.send(SUBSCRIPTIONS)
    expect(await typesOf()).toEqual([])
    const id = await server.create('errors', {}, 'bob')
    const one = `${SUBSCRIPTIONS}/${id}`
    for (const name of ['pause', 'resume', 'replay'])
      await server.send(`${one}/${name}`, action(name === 'replay' ? { from: 'now' } : undefined))
    await server.send(one, subscriptionChange({ filter: 'filter[type_eq]=x' }))
    await server.send(one, REMOVAL)
    const channel = await server.createChannel('pad')
    await server.send(`${CHANNELS}/${channel}`, REMOVAL)
    expect(await typesOf()).toEqual([
      ['api:subscriptions:create', 'bob'],
      ['api:subscriptions:pause', 'ann'],
      ['api:subscriptions:resume', 'ann'],
      ['api:subscriptions:replay', 'ann'],
      ['api:subscriptions:update', 'ann'],
      ['api:subscriptions:delete', 'ann'],
      ['api:notification_channels:create', 'ann'],
      ['api:notification_channels:delete', 'ann'],
    ])
    const sources = new Set((await eventsOf()).map(({ source }) => source))
    expect([...sources]).toEqual([one, `${CHANNELS}/${channel}`])
  })
})
