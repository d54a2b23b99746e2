import type { Socket } from 'node:net'
import type { Middleware } from 'koa'

/** Observes the requests of a server and can break their connections. */
export interface Requests {
  readonly middleware: Middleware
  /** Resolves with the next request whose URL contains this text. */
  next(part: string): Promise<void>
  /** Breaks the connections of all requests so far. */
  cut(): void
}

export function watchRequests(): Requests {
  const sockets = new Set<Socket>()
  const waiting = new Set<(url: string) => void>()
  return {
    async middleware(ctx, next) {
      sockets.add(ctx.req.socket)
      for (const look of waiting) look(ctx.url)
      await next()
    },
    next: (part) =>
      new Promise((resolve) => {
        const look = (url: string): void => {
          if (!url.includes(part)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
      }),
    cut() {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
  }
}
