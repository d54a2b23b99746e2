import { isUnder } from '../../src/http/events/endpoint.js'
import { targetOf } from './exchange.js'
import type { KoaContext } from './koa.js'

const answered = Symbol('daybook.answered')

/** Where a log's feed is mounted: a request that authentication turns away never gets there. */
const feeds = new WeakMap<object, string[]>()

export function declareFeed(audit: object, path: string): void {
  feeds.set(audit, [...(feeds.get(audit) ?? []), path])
}

export function markAsFeed(ctx: KoaContext): void {
  ctx.state[answered] = true
}

/** True for requests to the log's own endpoints, which leave no event. */
export function isFeedRequest(audit: object, ctx: KoaContext): boolean {
  const paths = feeds.get(audit) ?? []
  return ctx.state[answered] === true || paths.some((path) => isUnder(targetOf(ctx).path, path))
}
