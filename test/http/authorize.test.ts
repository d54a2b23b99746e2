import { AuditLog, AuditLogError } from 'daybook'
import { auditRoutes, subscriptionRoutes, viewRoutes } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import type { RawRequest, RawResponse } from '../support/http.js'
import { PATH, startFeed } from './access.js'
import { REMOVAL, resourceOf, serveManagement, SUBSCRIPTIONS } from './managing.js'
import { serveViews, VIEWS } from './views-served.js'

interface Mount {
  readonly path: string
  /** A server of the mount, closed at the end of the test. */
  start(authorize: () => never): Promise<{
    readonly errors: readonly unknown[]
    send(path: string, request?: RawRequest): Promise<RawResponse>
  }>
  create(audit: AuditLog, options: object): unknown
  /** The options of the mount that are functions. */
  readonly functions: readonly string[]
}

const mounts: Readonly<Record<string, Mount>> = {
  'the feed': {
    path: PATH,
    start: (authorize) => startFeed({ authorize }),
    create: auditRoutes,
    functions: ['authorize', 'visible', 'onRead'],
  },
  subscriptions: {
    path: SUBSCRIPTIONS,
    start: (authorize) => serveManagement({ routes: { authorize } }),
    create: subscriptionRoutes,
    functions: ['authorize'],
  },
  views: {
    path: VIEWS,
    start: (authorize) => serveViews({ authorize }),
    create: viewRoutes,
    functions: ['authorize'],
  },
}

describe.each(Object.entries(mounts))('authorize of %s', (_name, mount) => {
  const { path, start, create, functions } = mount

  it.each([
    undefined,
    null,
    false,
    1,
    'own',
    'true',
    {},
    { allowed: false },
    Promise.resolve('no'),
  ])('refuses by the answer %o', async (answer) => {
    const server = await start(() => answer as never)
    expectError(await server.send(path), 403, 'FORBIDDEN')
    const { may } = resourceOf(await server.send(`${path}/me`)).attributes
    expect(Object.values(may as object)).not.toContain(true)
  })

  it.each(functions)('is checked to be a function, as %s is', (name) => {
    const audit = new AuditLog({ store: memoryStore(), types: {} })
    for (const value of [null, true, false, 'all', { username_eq: 'ann' }])
      expect(() => create(audit, { [name]: value })).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTION',
          message: `${name} must be a function, or be left out`,
        }),
      )
    expect(() => create(audit, { [name]: undefined })).not.toThrow()
  })

  it('is not called without a user, or for unknown paths and methods', async () => {
    const server = await start(() => {
      throw new Error('it was called')
    })
    expectError(await server.send(path, { user: null }), 401, 'UNAUTHENTICATED')
    expectError(await server.send(path, { user: 'ann:wrong' }), 401, 'UNAUTHENTICATED')
    expectError(await server.send(path, REMOVAL), 405, 'METHOD_NOT_ALLOWED')
    expectError(await server.send(`${path}/a/b`), 404, 'NOT_FOUND')
    expect(server.errors).toEqual([])
  })

  it.each([
    ['an error', new Error('the directory is away')],
    ['an error of ours', new AuditLogError('INVALID_VALUE', 'a query of the host is wrong')],
  ])('passes %s to the host', async (_what, failure) => {
    const server = await start(() => {
      throw failure
    })
    for (const target of [path, `${path}/me`]) expect((await server.send(target)).status).toBe(500)
    expect(server.errors).toEqual([failure, failure])
  })
})
