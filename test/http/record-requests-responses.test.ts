import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { basicAuth } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import type { Middleware } from 'koa'
import { afterEach, describe, expect, it } from 'vitest'
import { done, nextEvent, onlyEvent, parser, type RecordedApp, startRecorded } from './recorded.js'

let app: RecordedApp
afterEach(() => app.close())

const API = 'api:unmatched:create'
const ERROR = 'error:unmatched:create'

describe('a client that disconnects', () => {
  it('while sending is recorded with its address', async () => {
    app = await startRecorded([parser as Middleware, done])
    const recorded = nextEvent(app)
    const socket = net.connect(app.port, '127.0.0.1')
    const head = 'POST /a HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
    const arrived = once(app.server, 'request')
    socket.write(`${head}content-length: 1000\r\n\r\n{"half":`)
    await arrived
    socket.destroy()
    await recorded
    expect(await onlyEvent(app)).toMatchObject({
      type: ERROR,
      attributes: { response_status: 400, aborted: true, remote_address: '127.0.0.1' },
    })
  })

  it('while its request is handled is recorded', async () => {
    app = await startRecorded([
      async (ctx) => {
        await once(ctx.res, 'close')
        ctx.body = 'done all the same'
      },
    ])
    const recorded = nextEvent(app)
    const socket = net.connect(app.port, '127.0.0.1')
    const arrived = once(app.server, 'request')
    socket.write('POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n')
    await arrived
    socket.destroy()
    await recorded
    expect(await onlyEvent(app)).toMatchObject({
      type: API,
      attributes: { response_status: 200, aborted: true, remote_address: '127.0.0.1' },
    })
  })

  it('before a response that bypasses Koa is recorded', async () => {
    app = await startRecorded([
      (ctx) => {
        ctx.respond = false
      },
    ])
    const recorded = nextEvent(app)
    const socket = net.connect(app.port, '127.0.0.1')
    const arrived = once(app.server, 'request')
    socket.write('POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n')
    await arrived
    socket.destroy()
    await recorded
    expect((await onlyEvent(app)).attributes['aborted']).toBe(true)
  })
})

describe('refusals', () => {
  it.each([[401], [429]])('of status %i are recorded once a minute per address', async (status) => {
    app = await startRecorded([(ctx) => ctx.throw(status)])
    for (let i = 0; i < 4; i++) await app.send('/a', { method: 'POST' })
    expect(await onlyEvent(app)).toMatchObject({
      type: ERROR,
      attributes: { response_status: status },
    })
  })

  it('from the /64 of an IPv6 address are recorded together', async () => {
    app = await startRecorded([(ctx) => ctx.throw(401)], { proxy: true })
    for (const address of ['2001:db8:1:2::7', '2001:db8:1:2:aaaa::1', '2001:db8:1:3::7'])
      await app.send('/a', { method: 'POST', headers: { 'x-forwarded-for': address } })
    expect(await app.types()).toEqual([ERROR, ERROR])
  })

  it('of one status do not suppress those of another', async () => {
    let status = 401
    app = await startRecorded([(ctx) => ctx.throw(status)])
    await app.send('/a', { method: 'POST' })
    status = 429
    await app.send('/a', { method: 'POST' })
    expect(await app.types()).toEqual([ERROR, ERROR])
  })

  it('by basicAuth have no user', async () => {
    app = await startRecorded([basicAuth({ users: { ann: 'ann' } }) as Middleware, done])
    await app.send('/a', { method: 'POST', user: 'ann:wrong' })
    expect(await onlyEvent(app)).toMatchObject({ type: ERROR, username: null })
  })
})

describe('the response', () => {
  it.each(['fail', 'hang'] as const)('is sent with a store in the state %s', async (fault) => {
    const store = faultyStore(memoryStore())
    store[fault]('append')
    app = await startRecorded([(ctx) => void (ctx.body = 'made')], {
      store,
      log: { waiting: { deadlineMs: 30 } },
    })
    const response = await app.send('/a', { method: 'POST' })
    expect([response.status, response.body]).toEqual([200, 'made'])
    expect(app.errors).toEqual([])
    store.heal()
    expect((await app.types()).filter((type) => type === API)).toEqual([])
  })

  it('waits until its event is durable', async () => {
    const store = faultyStore(memoryStore())
    app = await startRecorded([done], { store })
    store.hang('append')
    let isAnswered = false
    const response = app.send('/a', { method: 'POST' }).then(() => {
      isAnswered = true
      return undefined
    })
    while (app.audit.stats().waiting === 0) await delay(1)
    await app.send('/a')
    expect(isAnswered).toBe(false)
    store.heal()
    await response
    expect(await app.types()).toEqual([API])
  })

  it('is unchanged when a socket is upgraded', async () => {
    app = await startRecorded([done])
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
