import type { IncomingMessage, ServerResponse } from 'node:http'

/*
 * The part of Koa 3 that is used here, by shape, so that our declarations compile without Koa's.
 * Koa's own `Context` fits it, and so do functions that are written for Koa's `Context`.
 */

export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly request: object
  readonly method: string
  readonly path: string
  readonly querystring: string
  readonly ip: string
  readonly state: Record<PropertyKey, unknown>
  readonly app: { emit(name: 'error', error: unknown, ctx: unknown): unknown }
  status: number
  body: unknown
  get(field: string): string
  set(fields: Record<string, string>): void
  remove(field: string): void
}

export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/** What @koa/router leaves on the context of a request that it matched. */
export interface RoutedContext extends KoaContext {
  readonly params?: Readonly<Record<string, string>>
  readonly matched?: readonly MatchedLayer[]
}

/** A route, or a `router.use` without methods, whose path fits the request. */
export interface MatchedLayer {
  readonly path: string | RegExp
  readonly name?: string | undefined
  readonly methods: readonly string[]
}
