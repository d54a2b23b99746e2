import type { IncomingMessage, ServerResponse } from 'node:http'

/*
 * The part of Koa 3 that is used here, as structural types, so that the declarations compile without Koa.
 * Koa's own `Context` and functions that take it are assignable to these types.
 */

export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly request: object
  readonly method: string
  readonly path: string
  /** The request target as received; middleware may rewrite `path`, but not this. */
  readonly originalUrl: string
  readonly ip: string
  readonly state: Record<PropertyKey, unknown>
  readonly app: { emit(name: 'error', error: unknown, ctx: unknown): unknown }
  status: number
  /** False if a handler sends the response itself, bypassing Koa. */
  respond?: boolean | undefined
  body: unknown
  get(field: string): string
  set(fields: Readonly<Record<string, string>>): void
  remove(field: string): void
}

export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/** A Koa context with what @koa/router adds. */
export interface RoutedContext extends KoaContext {
  /** False if a handler sends the response itself, bypassing Koa. */
  readonly respond?: boolean | undefined
  readonly params?: Readonly<Record<string, string>>
  /** All layers with a matching path, for any method, in the order of declaration. */
  readonly matched?: readonly RouterLayer[]
  /** Path and name of the layer that ran last. */
  readonly routerPath?: string | RegExp | undefined
  readonly routerName?: string | undefined
}

/** A route, or a `router.use` without methods. */
export interface RouterLayer {
  readonly path: string | RegExp
  readonly name?: string | undefined
  readonly methods: readonly string[]
  readonly regexp?: RegExp | undefined
  /** In the order of the capturing groups of `regexp`. */
  readonly paramNames?: readonly { readonly name: string | number }[]
}
