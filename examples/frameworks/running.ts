import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuditLog } from 'daybook'

/** A service of this folder that listens on a port of the loopback address. */
export interface RunningService {
  readonly url: string
  close(): Promise<void>
}

/** How long requests may take after the service has been asked to stop. */
const GRACE_MS = 5000

/** Listens on the port; 0 means any free one. */
export async function listen(
  server: Server,
  port: number,
  audit: AuditLog,
): Promise<RunningService> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      // Followers of the feed would stay connected.
      const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS)
      await closed
      clearTimeout(timer)
      await audit.close()
    },
  }
}

/** Starts the service if its module is the one that Node was asked to run. */
export async function runIfMain(
  module: string,
  start: (port: number) => Promise<RunningService>,
  path = '/orders',
): Promise<void> {
  if (process.argv[1] !== module) return
  const { url, close } = await start(3000)
  process.once('SIGTERM', () => void close())
  console.log(
    `${url}/audit shows what POST ${url}${path} records; sign in as ann with the password ann`,
  )
}
