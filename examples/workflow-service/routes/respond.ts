import type { RouterContext } from '@koa/router'
import type { Kinds } from '../model.js'
import { JSON_API } from '../problem.js'
import { type ResourceKind, resourceOf } from '../resources.js'

/** Sends a document that is not of a stored resource. */
export const sendJson = (ctx: RouterContext, document: object): void => send(ctx, 200, document)

function send(ctx: RouterContext, status: number, document: object): void {
  ctx.status = status
  ctx.body = JSON.stringify(document)
  ctx.type = JSON_API
}

/** Sends one resource. */
export function sendOne<K extends ResourceKind>(
  ctx: RouterContext,
  kind: K,
  document: Kinds[K],
): void {
  send(ctx, 200, { data: resourceOf(kind, document) })
}

/** Sends a new resource. */
export function sendCreated<K extends ResourceKind>(
  ctx: RouterContext,
  kind: K,
  document: Kinds[K],
): void {
  const resource = resourceOf(kind, document)
  ctx.set('location', resource.links.self)
  send(ctx, 201, { data: resource })
}

export function sendNothing(ctx: RouterContext): void {
  ctx.status = 204
}
