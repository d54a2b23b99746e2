import connect from 'connect'
import { AuditLog, AuditLogError } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { auditRoutes, basicAuth, listRoute } from 'daybook/node'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { errorOf, JSON_API, listOf, newEvent, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { openStream } from '../support/server-sent.js'

const PATH = '/api/events'
const users = { ann: 'ann', bob: 'bob' }
const failure = new Error('the directory is away')
const fail = (): never => {
  throw failure
}

async function start(
  build: (audit: AuditLog) => Parameters<typeof listen>[0],
): Promise<{ audit: AuditLog; url: string }> {
  const audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
  const { url, close } = await listen(build(audit))
  onTestFinished(async () => {
    await close()
    await audit.close()
  })
  return { audit, url }
}

/** An error handler as hosts have it. */
function errorHandler(errors: unknown[]): ErrorRequestHandler {
  return (error, _request, response, next) => {
    errors.push(error)
    if (response.headersSent) next(error)
    else response.status(500).end('the host’s own words')
  }
}

describe('with Express', () => {
  it('errors of the host go to its error handler', async () => {
    const errors: unknown[] = []
    const hosts: ((app: Express, audit: AuditLog) => unknown)[] = [
      (app) => app.use(basicAuth({ users: fail })),
      (app) => app.use(basicAuth({ users, address: fail })),
      (app, audit) => app.use(auditRoutes(audit, { username: fail })),
      (app, audit) => app.use(auditRoutes(audit, { username: () => 'ann', authorize: fail })),
      (app, audit) => app.use(auditRoutes(audit, { username: () => 'ann', visible: fail })),
      (app, audit) => app.use(auditRoutes(audit, { username: () => 'ann', onRead: fail })),
      (app) => app.use(listRoute({ resource: 'thing', attributes: {}, source: fail })),
    ]
    for (const build of hosts) {
      const { url } = await start((audit) => {
        const app = express()
        build(app, audit)
        app.use((_request, response) => void response.end('not reached'))
        return app.use(errorHandler(errors))
      })
      const response = await send(url, PATH)
      expect([response.status, response.body]).toEqual([500, 'the host’s own words'])
      expect(errors.splice(0)).toEqual([failure])
    }
  })

  it('an error in the middle of a stream cuts it off and goes to the error handler too', async () => {
    const errors: unknown[] = []
    let reads = 0
    const { url, audit } = await start((audit) => {
      const onRead = (): void => {
        if (++reads > 1) fail()
      }
      const app = express().use(auditRoutes(audit, { username: () => 'ann', onRead }))
      return app.use(errorHandler(errors))
    })
    const stream = await openStream(`${url}${PATH}/stream`)
    await audit.recordCustom('note', {})
    await stream.take(1)
    await audit.recordCustom('note', {})
    expect(await stream.ended).toBe('cut off')
    expect(errors).toEqual([failure])
  })

  it('requests to other paths are passed on with the authenticated user as actor', async () => {
    const { url, audit } = await start((audit) =>
      express()
        .use(basicAuth({ users }), auditRoutes(audit))
        .post('/orders', async (_request, response) => {
          // In code that has no access to the request.
          await new Promise((resolve) => setImmediate(resolve))
          await audit.recordCustom('ordered', {})
          response.end('ordered')
        }),
    )
    expect((await send(url, '/orders', { method: 'POST', user: 'bob' })).body).toBe('ordered')
    const [event] = (await audit.list()).events
    expect([event!.type, event!.username]).toEqual(['ordered', 'bob'])
    expect((await send(url, '/nowhere')).status).toBe(404)
  })

  it('the user may come from another authentication', async () => {
    const { url, audit } = await start((audit) =>
      express()
        .use((_request, response, next) => {
          response.locals['user'] = { name: 'zoe' }
          next()
        })
        .use(
          auditRoutes(audit, {
            username: (request: express.Request) =>
              (request.res!.locals['user'] as { name: string }).name,
          }),
        ),
    )
    expect((await send(url, PATH, newEvent({ type: 'x' }))).status).toBe(201)
    expect((await audit.list()).events[0]!.username).toBe('zoe')
  })

  it('failures are counted by request.ip of Express', async () => {
    const { url } = await start(() => {
      const app = express().set('trust proxy', true)
      const address = (request: express.Request): string => request.ip ?? ''
      return app
        .use(basicAuth({ users, address, failures: { perUser: 1 } }))
        .use((_request, response) => void response.end())
    })
    const from = async (client: string, user: string): Promise<number> =>
      (await send(url, '/', { user, headers: { 'x-forwarded-for': client } })).status
    expect(await from('192.0.2.1', 'ann:wrong')).toBe(401)
    expect(await from('192.0.2.1', 'ann')).toBe(429)
    expect(await from('192.0.2.2', 'ann')).toBe(200)
  })

  it('a body may be kept as text by a verify function', async () => {
    const verify = (request: object, _response: unknown, buffer: Buffer): void => {
      Object.assign(request, { rawBody: buffer.toString() })
    }
    const { url, audit } = await start((audit) =>
      express().use(
        express.json({ type: JSON_API, verify }),
        basicAuth({ users }),
        auditRoutes(audit),
      ),
    )
    expect((await send(url, PATH, newEvent({ type: 'x', n: 1 }))).status).toBe(201)
    expect((await audit.list()).events[0]!.attributes).toEqual({ n: 1 })
  })

  it('a parsed body has the same limits', async () => {
    const { url } = await start((audit) =>
      express().use(
        express.json({ type: JSON_API, limit: '10mb' }),
        basicAuth({ users }),
        auditRoutes(audit),
      ),
    )
    const large = newEvent({ type: 'x', text: 'x'.repeat(2 ** 20) })
    const long = await send(url, PATH, {
      ...large,
      headers: { ...large.headers, 'transfer-encoding': 'chunked' },
    })
    expect([long.status, errorOf(long).code]).toEqual([413, 'BODY_TOO_LARGE'])
    for (const levels of [100, 200_000]) {
      const nested = `${'['.repeat(levels)}${']'.repeat(levels)}`
      const body = `{"data":{"type":"Event","attributes":{"type":"x","a":${nested}}}}`
      const deep = await send(url, PATH, { ...large, body })
      expect([deep.status, deep.headers['content-type']]).toEqual([
        levels === 100 ? 422 : 400,
        JSON_API,
      ])
    }
  })

  it('a body that was read and discarded is an error of the host', async () => {
    const errors: unknown[] = []
    const { url } = await start((audit) =>
      express()
        .use((request, _response, next) => {
          request.resume().once('end', () => next())
        })
        .use(basicAuth({ users }), auditRoutes(audit))
        .use(errorHandler(errors)),
    )
    expect((await send(url, PATH, newEvent({ type: 'x' }))).status).toBe(500)
    expect(errors).toEqual([
      new Error('the request body was already read, and neither body nor rawBody contains it'),
    ])
  })

  it('listRoute has the same query language', async () => {
    const orders = ['ann', 'bob', 'ann'].map((owner, n) => ({ id: String(n), owner, n }))
    const { url } = await start(() =>
      express().use(
        '/shop',
        express.Router().get(
          '/orders',
          basicAuth({ users }),
          listRoute({
            resource: 'order',
            attributes: { n: 'number', owner: 'string' },
            source: orders,
            visible: ({ username }) => ({ owner_eq: username }),
          }),
        ),
      ),
    )
    const response = await send(url, '/shop/orders?filter[m]=or&filter[n_gteq]=0')
    const { data, links } = listOf(response)
    expect(data.map(({ id }) => id)).toEqual(['0', '2'])
    expect(links.self).toBe('/shop/orders?filter[m]=or&filter[n_gteq]=0')
  })
})

describe('with Connect', () => {
  it('errors of the host go to its error handler', async () => {
    const thrown = new AuditLogError('INVALID_VALUE', 'a query of the host is wrong')
    const errors: unknown[] = []
    const { url } = await start((audit) => {
      const app = connect()
      const authorize = (): never => {
        throw thrown
      }
      app.use('/api', auditRoutes(audit, { username: () => 'ann', authorize }))
      const handleError: connect.ErrorHandleFunction = (error, _request, response, _next) => {
        errors.push(error)
        response.end('the host’s own words')
      }
      app.use(handleError)
      return app
    })
    expect((await send(url, PATH)).body).toBe('the host’s own words')
    expect(errors).toEqual([thrown])
  })

  it('requests to other paths under the mount path are passed on', async () => {
    const { url } = await start((audit) => {
      const app = connect()
      app.use('/api', basicAuth({ users }))
      app.use('/api', auditRoutes(audit))
      app.use('/api', (request, response) => response.end(request.url))
      return app
    })
    expect((await send(url, '/api/things')).body).toBe('/things')
    expect((await send(url, PATH)).status).toBe(200)
  })
})
