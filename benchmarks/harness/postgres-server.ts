import { startOwnPostgres } from '../../test/support/postgres.js'

/** Those of a server that is as durable as Postgres is by default. */
const SETTINGS = [
  ...['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'shared_buffers=512MB'],
  'max_wal_size=4GB',
]

/** Starts a new Postgres server, as durable as Postgres is by default. */
export const startServer = (...settings: readonly string[]): ReturnType<typeof startOwnPostgres> =>
  startOwnPostgres([...SETTINGS, ...settings])

/** Calls `use` with the URL of a new server and stops the server afterwards. */
export async function withPostgres<Result>(use: (url: string) => Promise<Result>): Promise<Result> {
  const server = await startServer()
  try {
    return await use(server.url)
  } finally {
    await server.stop()
  }
}
