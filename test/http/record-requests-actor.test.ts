import { EventEmitter, once } from 'node:events'
import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, bindActor, currentActor, withActor } from 'daybook'
import { type KoaContext, recordRequests } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { postgresDatabase } from '../support/database.js'
import { randomOf } from '../support/random.js'
import { startRecorded } from './recorded.js'
import { type Audit, types, worker, wrongUsers } from './work.js'

/** The part of a context that recording reads. */
const contextOf = (state: Record<PropertyKey, unknown>): KoaContext =>
  ({
    req: {},
    res: { headersSent: false, destroyed: false, statusCode: 204 },
    request: {},
    method: 'POST',
    path: '/work',
    originalUrl: '/work',
    ip: '',
    state,
    app: new EventEmitter(),
    get: () => '',
  }) as unknown as KoaContext

const inParallel = (count: number, run: () => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, run))

describe('events recorded in nested calls of a request', () => {
  it('have the user of their request, with any interleaving', async () => {
    const seed = Math.floor(Math.random() * 2 ** 32)
    await using audit: Audit = new AuditLog({ store: memoryStore(), types })
    const work = worker(audit, randomOf(seed))
    const middleware = recordRequests(audit)
    let request = 0
    await inParallel(300, async () => {
      while (request < 1500) {
        const own = request++
        const ctx = contextOf({})
        await middleware(ctx, () => work(ctx.state, own))
      }
    })
    const { seen, wrong } = await wrongUsers(audit)
    expect(wrong, `seed ${seed}`).toEqual([])
    expect(seen).toBeGreaterThan(2000)
    const ofRequests = await audit.list('filter[type_eq]=api:unmatched:create&limit=1000')
    expect(new Set(ofRequests.events.map(({ username }) => username)).size).toBe(1000)
  })

  it('have the user of their request, through a connection pool of Postgres', async () => {
    const database = await postgresDatabase()
    const pool = new pg.Pool({ connectionString: database.url, max: 2 })
    await using audit: Audit = new AuditLog({ store: memoryStore(), types })
    const middleware = recordRequests(audit)
    let request = 0
    await inParallel(20, async () => {
      while (request < 50) {
        const own = request++
        const ctx = contextOf({ username: `user ${own}` })
        await middleware(ctx, async () => {
          await pool.query('SELECT $1::int', [own])
          await audit.record('info:work:done', { request: own, way: 'promise' })
          await new Promise<void>((resolve, reject) => {
            pool.query(
              'SELECT 1',
              bindActor(() => {
                audit
                  .record('info:work:done', { request: own, way: 'callback' })
                  .then(() => resolve(), reject)
              }),
            )
          })
        })
      }
    })
    expect(await wrongUsers(audit)).toEqual({ seen: 100, wrong: [] })
    await pool.end()
    await database.remove()
  })
})

describe('the actor of a request', () => {
  it('does not outlive the request on a keep-alive connection', async () => {
    const app = await startRecorded(
      [
        async (ctx) => {
          ctx.state['username'] = ctx.query['user']
          await app.audit.record('info:work:done')
          ctx.status = 204
        },
      ],
      { types },
    )
    const outside: unknown[] = []
    app.server.on('request', () => outside.push(currentActor()))
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const sockets = new Set<unknown>()
    for (const path of ['/?user=ann', '/', '/?user=bob']) {
      const sent = http.get({ port: app.port, host: '127.0.0.1', path, agent })
      const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
      sockets.add(sent.socket)
      response.resume()
      await once(response, 'end')
    }
    agent.destroy()
    expect(sockets.size).toBe(1)
    expect((await app.events()).map(({ username }) => username)).toEqual(['ann', null, 'bob'])
    expect(outside).toEqual([undefined, undefined, undefined])
    await app.close()
  })

  it('is reported if its fields are invalid; its events have its name', async () => {
    await using audit: Audit = new AuditLog({ store: memoryStore(), types })
    const middleware = recordRequests(audit, {
      username: () => ({ username: 'ann', kind: 'admin' as never, on_behalf_of: 'bob' }),
    })
    const ctx = contextOf({})
    const errors: unknown[] = []
    ctx.app.emit = (_name, error) => errors.push(error)
    await middleware(ctx, async () => void (await audit.record('info:work:done')))
    const { events } = await audit.list()
    expect(events.map(({ type, username }) => [type, username])).toEqual([
      ['info:work:done', 'ann'],
      ['api:unmatched:create', 'ann'],
    ])
    for (const { attributes } of events) expect(attributes).not.toHaveProperty('on_behalf_of')
    expect(errors).toMatchObject([{ code: 'INVALID_OPTION' }, { code: 'INVALID_OPTION' }])
  })

  it('can be null in background work, while a failed request keeps its user', async () => {
    const ended = new EventEmitter()
    const app = await startRecorded(
      [
        (ctx) => {
          ctx.state['username'] = 'ann'
          const inBackground = async (name: string): Promise<void> => {
            await delay(1)
            await app.audit.record('info:work:done', { way: name })
            ended.emit(name)
          }
          void inBackground('hers')
          void withActor(null, () => inBackground('nobodys'))
          throw new Error('broken')
        },
      ],
      { types },
    )
    const both = Promise.all([once(ended, 'hers'), once(ended, 'nobodys')])
    await app.send('/')
    await both
    const users = (await app.events()).map(({ type, username, attributes }) => [
      attributes['way'] ?? type,
      username,
    ])
    expect(new Map(users as [string, string | null][])).toEqual(
      new Map([
        ['error:api:controller:unhandled', 'ann'],
        ['hers', 'ann'],
        ['nobodys', null],
      ]),
    )
    await app.close()
  })
})
