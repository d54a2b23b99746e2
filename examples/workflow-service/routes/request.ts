import type { RouterContext } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { partial, type Reader, record } from '../attributes.js'
import type { Defer } from '../engine/engine.js'
import { Problem } from '../problem.js'

export type Handler = (ctx: RouterContext) => void | Promise<void>

/** State that the middleware of a request shares. */
interface RequestState {
  username: string
  about: Readonly<Record<string, unknown>>
  deferred: (() => Promise<void>)[]
}

const stateOf = (ctx: Context | RouterContext): RequestState => ctx.state

export const usernameOf = (ctx: Context | RouterContext): string => stateOf(ctx).username

/** Adds data to the event of the request: name, parent, links. */
export function describe(ctx: RouterContext, facts: Readonly<Record<string, unknown>>): void {
  const state = stateOf(ctx)
  state.about = { ...state.about, ...facts }
}

/** The data that handlers have added. */
export const described = (ctx: Context): Readonly<Record<string, unknown>> => stateOf(ctx).about

/** Defers tasks until the event of the request has been recorded, so that their events come after it. */
export const deferIn =
  (ctx: RouterContext): Defer =>
  (task) => {
    stateOf(ctx).deferred.push(task)
  }

/** Koa middleware around `recordRequests`: runs the deferred tasks. */
export const runDeferred =
  (run: (task: () => Promise<void>) => void): Middleware =>
  async (ctx, next) => {
    const state = stateOf(ctx)
    state.about = {}
    state.deferred = []
    try {
      await next()
    } finally {
      for (const task of state.deferred) run(task)
    }
  }

const ATTRIBUTES = '/data/attributes'

type Readers = Readonly<Record<string, Reader<unknown>>>

/** The attributes of a JSON:API document. Its type may be written `project`, `Project` or `projects`. */
function attributesOf(ctx: RouterContext, type: string): unknown {
  const { data } = Object(ctx.request.body) as { data?: unknown }
  if (data === null || typeof data !== 'object')
    throw new Problem(400, 'MALFORMED_DOCUMENT', '/data must be an object', { pointer: '/data' })
  const given = data as { type?: unknown; attributes?: unknown }
  const plain = String(given.type).toLowerCase().replaceAll('_', '')
  const wanted = type.replaceAll('_', '')
  if (plain !== wanted && plain !== `${wanted}s`)
    throw new Problem(409, 'WRONG_RESOURCE_TYPE', `/data/type must be ${type}`, {
      pointer: '/data/type',
    })
  return given.attributes ?? {}
}

export const readAttributes = <T>(ctx: RouterContext, type: string, reader: Reader<T>): T =>
  reader(attributesOf(ctx, type), ATTRIBUTES)

export const readNew = <R extends Readers>(ctx: RouterContext, type: string, readers: R) =>
  readAttributes(ctx, type, record(readers))

export const readChanges = <R extends Readers>(ctx: RouterContext, type: string, readers: R) =>
  readAttributes(ctx, type, partial(readers))

/** A parameter of the matched route. */
export const param = (ctx: RouterContext, name: string): string => ctx.params[name] ?? ''
