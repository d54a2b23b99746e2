import { once } from 'node:events'
import http from 'node:http'
import { AuditLog, AuditLogError, type EventStore } from 'daybook'
import * as koa from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import * as node from 'daybook/node'
import Koa from 'koa'
import { describe, expect, it } from 'vitest'
import { abortedError } from '../../src/errors.js'
import { listen } from '../support/node-server.js'
import { PATH } from './access.js'

const username = (): string => 'ann'

const listeners = {
  Koa: (audit: AuditLog, onError: (error?: unknown) => void) =>
    new Koa().on('error', onError).use(koa.auditRoutes(audit, { username })).callback(),
  'node:http': (audit: AuditLog, onError: (error?: unknown) => void): http.RequestListener => {
    const routes = node.auditRoutes(audit, { username })
    return (request, response) => routes(request, response, onError)
  },
} as const

interface Held {
  readonly store: EventStore
  /** Resolves when the method is called. */
  readonly called: Promise<void>
  /** Resolves when the signal of the call is aborted. */
  readonly aborted: Promise<void>
}

/** A store with a method that does nothing until it is cancelled. */
function holding(method: 'list' | 'count'): Held {
  let onCall = (): void => {}
  let onAbort = (): void => {}
  const called = new Promise<void>((resolve) => (onCall = resolve))
  const aborted = new Promise<void>((resolve) => (onAbort = resolve))
  const held = async (_query: unknown, options?: { signal?: AbortSignal }): Promise<never> => {
    onCall()
    await once(options!.signal!, 'abort')
    onAbort()
    throw abortedError(options!.signal!)
  }
  return { store: { ...memoryStore(), [method]: held }, called, aborted }
}

describe.each(['Koa', 'node:http'] as const)('when its client leaves %s,', (name) => {
  it.each([
    ['list', '', 'list'],
    ['count', '/counts', 'count'],
    ['export', '/export', 'list'],
  ] as const)('a %s is cancelled, without an error', async (_what, path, method) => {
    const { store, called, aborted } = holding(method)
    await using audit = new AuditLog({ store, types: {} })
    const errors: unknown[] = []
    const server = await listen(listeners[name](audit, (error) => errors.push(error)))
    const client = http.get(server.url + PATH + path, { agent: false }).on('error', () => {})
    await called
    client.destroy()
    await aborted
    await server.close()
    expect(errors.filter((error) => error instanceof AuditLogError)).toEqual([])
  })
})
