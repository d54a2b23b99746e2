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
  /** The request's target as it came, whatever has become of `path`. */
  readonly originalUrl: string
  readonly ip: string
  readonly state: Record<PropertyKey, unknown>
  readonly app: { emit(name: 'error', error: unknown, ctx: unknown): unknown }
  status: number
  /** False where a handler answers by itself, past Koa. */
  respond?: boolean | undefined
  body: unknown
  get(field: string): string
  set(fields: Record<string, string>): void
  remove(field: string): void
}

export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/** What Koa and @koa/router leave on the context of a request. */
export interface RoutedContext extends KoaContext {
  /** False where a handler answers by itself, past Koa. */
  readonly respond?: boolean | undefined
  readonly params?: Readonly<Record<string, string>>
  /** All whose path fits, of any method, in the order in which they were declared. */
  readonly matched?: readonly RouterLayer[]
  /** Path and name of the layer that was run last. */
  readonly routerPath?: string | RegExp | undefined
  readonly routerName?: string | undefined
}

/** A route, or a `router.use` without methods. */
export interface RouterLayer {
  readonly path: string | RegExp
  readonly name?: string | undefined
  readonly methods: readonly string[]
  readonly regexp?: RegExp | undefined
  /** In the order of the expression's groups. */
  readonly paramNames?: readonly { readonly name: string | number }[]
}
