import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type Koa from 'koa'

export interface Listening {
  /** Without a trailing slash. */
  readonly url: string
  /** Closes the server and all connections. */
  close(): void
}

/** Serves on a free port. */
export async function listen(app: Koa): Promise<Listening> {
  const handle = app.callback()
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The authorization header of the only user of the benchmarks' services. */
export const USER = 'ann'
export const AUTHORIZATION = `Basic ${Buffer.from(`${USER}:${USER}`).toString('base64')}`
