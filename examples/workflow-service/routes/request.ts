import type { RouterContext } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { partial, type Reader, record } from '../attributes.js'
import type { Later } from '../engine/engine.js'
import { Problem } from '../problem.js'

export type Handler = (ctx: RouterContext) => void | Promise<void>

/** What a request gathers on its way through the middleware. */
interface RequestState {
  username: string
  about: Readonly<Record<string, unknown>>
  later: (() => Promise<void>)[]
}

const stateOf = (ctx: Context | RouterContext): RequestState => ctx.state

export const usernameOf = (ctx: Context | RouterContext): string => stateOf(ctx).username

/** Adds to what the request's event will tell: name, parent, links. */
export function describe(ctx: RouterContext, facts: Readonly<Record<string, unknown>>): void {
  const state = stateOf(ctx)
  state.about = { ...state.about, ...facts }
}

/** What handlers have said about the request. */
export const described = (ctx: Context): Readonly<Record<string, unknown>> => stateOf(ctx).about

/** Work that begins once the request's own event is recorded, so that the log tells it after. */
export const laterIn =
  (ctx: RouterContext): Later =>
  (task) => {
    stateOf(ctx).later.push(task)
  }

/** Koa middleware outside of the recording: runs what was put off. */
export const runLater =
  (run: (task: () => Promise<void>) => void): Middleware =>
  async (ctx, next) => {
    const state = stateOf(ctx)
    state.about = {}
    state.later = []
    try {
      await next()
    } finally {
      for (const task of state.later) run(task)
    }
  }

const ATTRIBUTES = '/data/attributes'

type Readers = Readonly<Record<string, Reader<unknown>>>

/** The attributes of a JSON:API document whose resource type is this one: `Project`, `project`. */
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

/** A route parameter; the router has matched it. */
export const param = (ctx: RouterContext, name: string): string => ctx.params[name] ?? ''
