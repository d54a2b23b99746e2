import { isUnder } from '../../src/http/events/endpoint.js'
import { mountsOf } from '../../src/http/mounts.js'
import { targetOf } from './exchange.js'
import type { KoaContext } from './koa.js'

const answered = Symbol('daybook.answered')

/** Marks a request that feed or page has answered. */
export function markAsOwn(ctx: KoaContext): void {
  ctx.state[answered] = true
}

/**
 * True for requests to the log's own feed and page, which leave no event; also for those that authentication
 * has turned away before.
 */
export function isOwnRequest(audit: object, ctx: KoaContext): boolean {
  if (ctx.state[answered] === true) return true
  return mountsOf(audit).some(({ path }) => isUnder(targetOf(ctx).path, path))
}
