import { isUnder } from '../../src/http/events/endpoint.js'
import { mountsOf } from '../../src/http/mounts.js'
import { targetOf } from './exchange.js'
import type { KoaContext } from './koa.js'

const ownRequest = Symbol('daybook.ownRequest')

/** Marks a request that was handled by the feed or the page. */
export function markAsOwn(ctx: KoaContext): void {
  ctx.state[ownRequest] = true
}

/**
 * True for requests to the log's own feed and page, which are not recorded, including those that
 * authentication has refused.
 */
export function isOwnRequest(audit: object, ctx: KoaContext): boolean {
  if (ctx.state[ownRequest] === true) return true
  return mountsOf(audit).some(({ path }) => isUnder(targetOf(ctx).path, path))
}
