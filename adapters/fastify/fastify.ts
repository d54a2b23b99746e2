import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SentRequest } from '../../src/http/node/recorded-exchange.js'
import { checkOptions } from '../../src/options.js'

/*
 * The part of Fastify 5 that is used here, as structural types, so that the declarations compile without
 * Fastify.
 */

export interface FastifyRequest extends SentRequest {
  readonly raw: IncomingMessage
  readonly ip: string
  readonly params: unknown
  /** `url` is the path of the route with its prefixes; undefined if no route matched. */
  readonly routeOptions: { readonly url?: string | undefined }
  readonly log: { error(value: unknown): void }
  /** The authenticated user, as {@link basicAuth} sets it. */
  username?: string | null | undefined
}

export interface FastifyReply {
  readonly raw: ServerResponse
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>
  hijack(): unknown
  callNotFound(): unknown
}

export type FastifyHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** A route as the hook `onRoute` gets it. */
export interface FastifyRoute {
  readonly method: string | readonly string[]
  readonly handler: object
  /** With all prefixes. */
  readonly url: string
}

export type Done = (error?: Error) => void

export interface FastifyApp {
  readonly prefix: string
  addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): unknown
  addHook(
    name: 'onRequest' | 'preValidation',
    hook: (request: FastifyRequest, reply: FastifyReply, done: Done) => void,
  ): unknown
  addHook(
    name: 'onError',
    hook: (request: FastifyRequest, reply: FastifyReply, error: Error, done: Done) => void,
  ): unknown
  addContentTypeParser(
    type: string,
    parser: (
      request: FastifyRequest,
      payload: IncomingMessage,
      done: (error: null) => void,
    ) => void,
  ): unknown
  removeAllContentTypeParsers(): void
  all(path: string, handler: FastifyHandler): unknown
  hasRequestDecorator(name: string): boolean
  decorateRequest(name: string, value: null): unknown
}

/** A plugin, for `app.register`. */
export type FastifyPlugin = (app: FastifyApp, options: object, done: Done) => void

/** Options of `register` that Fastify reads itself. */
const REGISTER_OPTIONS = { prefix: true, logLevel: true, logSerializers: true } as const

/** A plugin that refuses options of ours, which are given to the function that makes the plugin. */
export const refusingOptions =
  (install: (app: FastifyApp) => void): FastifyPlugin =>
  (app, options, done) => {
    try {
      checkOptions(options, REGISTER_OPTIONS, 'register of a plugin of daybook/fastify')
      install(app)
    } catch (error) {
      // Fastify does not catch errors that a plugin with a callback throws.
      return done(error as Error)
    }
    return done()
  }

/**
 * A plugin whose hooks apply to the instance that registers it and to all below, as with the package
 * `fastify-plugin`.
 */
export function sharedPlugin(name: string, install: (app: FastifyApp) => void): FastifyPlugin {
  return Object.assign(refusingOptions(install), {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: name,
  })
}
