import type { Middleware } from 'koa'
import { Problem } from '../problem.js'
import { mayChange } from '../users.js'

export function refuseReaders(username: string): void {
  if (!mayChange(username))
    throw new Problem(403, 'READ_ONLY', `${username} may read, but not change anything`)
}

/** Custom events are changes too. */
export const refuseReadersEvents: Middleware = (ctx, next) => {
  if (ctx.method === 'POST' && ctx.path === '/api/events') {
    const { username } = ctx.state as { username: string }
    refuseReaders(username)
  }
  return next()
}
