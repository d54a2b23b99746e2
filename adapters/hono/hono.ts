import { type AddressOption, connectionAddress } from '../../src/http/fetch/address.js'

/*
 * The part of Hono 4 that is used here, as structural types, so that the declarations compile without Hono.
 * Hono's own `Context` and functions that take it are assignable to these types.
 */

/** A handler or middleware that an app has registered. */
export interface HonoRoute {
  /** `ALL` for middleware. */
  readonly method: string
  /** With the paths of the apps that it is nested in. */
  readonly path: string
  readonly handler: object
}

export interface HonoContext {
  readonly req: {
    readonly raw: Request
    readonly method: string
    /** Handlers and middleware that match the request, in the order of registration. */
    readonly matchedRoutes: readonly HonoRoute[]
    /** The index in `matchedRoutes` of the handler that runs, or that ran last. */
    routeIndex: number
    /** Parameters of the route of that handler. */
    param(): object
    /** Results of methods such as `json()`. */
    readonly bodyCache: {
      readonly formData?: unknown
      readonly json?: unknown
      readonly text?: unknown
      readonly arrayBuffer?: unknown
    }
    arrayBuffer(): Promise<ArrayBuffer>
    formData(): Promise<FormData>
  }
  /** Bindings; with @hono/node-server, Bun and Deno they have the connection. */
  readonly env: unknown
  /** The error that a handler has thrown. */
  readonly error: Error | undefined
  res: Response
  /** True if a handler has given a response. */
  readonly finalized: boolean
  get(key: string): unknown
  set(key: string, value: unknown): void
}

export type HonoMiddleware = (
  context: HonoContext,
  next: () => Promise<void>,
) => Promise<Response | void>

export type HonoHandler = (context: HonoContext) => Promise<Response>

/** The address of a client, by the option `address` or that of the connection. */
export const addressOf = (
  options: AddressOption<[context: HonoContext]>,
  context: HonoContext,
): string => options.address?.(context) ?? connectionAddress(context.req.raw, context.env)

/** The user that `basicAuth` has found. */
export const foundUser = (context: HonoContext): unknown => context.get('username')
