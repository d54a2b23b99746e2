import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { basicAuth } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import type { Middleware } from 'koa'
import { describe, expect, it } from 'vitest'
import { rawRequest } from './raw.js'
import { done, nextEvent, onlyEvent, parser, type RecordedApp, useRecorded } from './recorded.js'

const { start } = useRecorded()

const API = 'api:unmatched:create'
const ERROR = 'error:unmatched:create'

describe('a client that disconnects', () => {
  /** The event of the request. */
  async function eventOf(app: RecordedApp, sent: string) {
    const recorded = nextEvent(app)
    const socket = net.connect(app.port, '127.0.0.1')
    const arrived = once(app.server, 'request')
    socket.write(sent)
    await arrived
    socket.destroy()
    await recorded
    return onlyEvent(app)
  }

  it('while sending is recorded with its address', async () => {
    const app = await start([parser as Middleware, done])
    const headers = 'content-type: application/json\r\ncontent-length: 1000\r\n'
    expect(await eventOf(app, rawRequest('POST /a', headers, '{"half":'))).toMatchObject({
      type: ERROR,
      attributes: {
        response_status: 400,
        outcome: 'failure',
        aborted: true,
        remote_address: '127.0.0.1',
      },
    })
  })

  it('before a response that bypasses Koa is recorded', async () => {
    const app = await start([(ctx) => void (ctx.respond = false)])
    const { attributes } = await eventOf(app, rawRequest('POST /a', 'content-length: 0\r\n'))
    expect(attributes['aborted']).toBe(true)
    expect(attributes).not.toHaveProperty('outcome')
  })
})

describe('refusals', () => {
  it('from the /64 of an IPv6 address are recorded together', async () => {
    const app = await start([(ctx) => ctx.throw(401)], { proxy: true })
    for (const address of ['2001:db8:1:2::7', '2001:db8:1:2:aaaa::1', '2001:db8:1:3::7'])
      await app.send('/a', { method: 'POST', headers: { 'x-forwarded-for': address } })
    expect(await app.types()).toEqual([ERROR, ERROR])
  })

  it('by basicAuth have no user, and are counted after the first one', async () => {
    const app = await start([basicAuth({ users: { ann: 'ann' } }) as Middleware, done])
    for (const user of ['ann:wrong', 'ann:wronger', null])
      await app.send('/a', { method: 'POST', user })
    await app.send('/a')
    const [event, read, ...more] = await app.events()
    expect(event).toMatchObject({
      type: ERROR,
      username: null,
      attributes: { response_status: 401, usernames: ['ann'] },
    })
    expect([read!.type, read!.attributes['usernames'], more]).toEqual([
      'error:unmatched:get',
      undefined,
      [],
    ])
  })
})

describe('the response', () => {
  it('is sent with a store that hangs', async () => {
    const store = faultyStore(memoryStore())
    store.hang('append')
    const app = await start([(ctx) => void (ctx.body = 'made')], {
      store,
      log: { waiting: { deadlineMs: 30 } },
    })
    const response = await app.send('/a', { method: 'POST' })
    expect([response.status, response.body]).toEqual([200, 'made'])
    expect(app.errors).toEqual([])
    store.heal()
    expect((await app.types()).filter((type) => type === API)).toEqual([])
  })

  it('is unchanged when a socket is upgraded', async () => {
    const app = await start([done])
    app.server.on('upgrade', (_request, socket: net.Socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n',
      )
      socket.pipe(socket)
    })
    const request = http.request({
      port: app.port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { upgrade: 'echo', connection: 'upgrade' },
    })
    request.end()
    const [, socket] = (await once(request, 'upgrade')) as [unknown, net.Socket]
    socket.write('hello')
    const [data] = (await once(socket, 'data')) as [Buffer]
    expect(data.toString()).toBe('hello')
    socket.destroy()
    expect(await app.types()).toEqual([])
  })
})
