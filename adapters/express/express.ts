import type { NodeRequest } from '../../src/http/node/node.js'

/*
 * The part of Express 5 that is used here, as structural types, so that the declarations compile without
 * Express.
 */

type Path = string | RegExp

/** Returns the matched part of a path. */
type Matcher = (
  path: string,
) => { readonly path: string; readonly params: Readonly<Record<string, unknown>> } | false

export interface ExpressRoute {
  readonly path: Path | readonly Path[]
  /** By lower-case name; `_all` for all methods. */
  readonly methods?: Readonly<Record<string, boolean>>
}

/** A route, a router or middleware in the stack of a router. */
export interface ExpressLayer {
  readonly route?: ExpressRoute | undefined
  /** A nested router has a `stack`. */
  readonly handle: unknown
  readonly name: string
  /** The path as given, since version 2.3 of the package `router`. */
  readonly rawPath?: Path | readonly Path[] | undefined
  readonly matchers?: readonly Matcher[]
  /** True for middleware without a path. */
  readonly slash?: boolean
}

export interface ExpressRouter {
  readonly stack: readonly ExpressLayer[]
}

export interface ExpressApp {
  readonly router: ExpressRouter
  readonly mountpath: string | readonly string[]
  /** The app that this one is mounted in. */
  readonly parent?: ExpressApp | undefined
}

export type ExpressRequest = NodeRequest & {
  readonly app?: unknown
  readonly ip?: string | undefined
  /** The route that ran last. */
  readonly route?: unknown
}
