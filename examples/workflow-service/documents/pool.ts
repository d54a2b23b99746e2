import pg from 'pg'

const CONNECT_TIMEOUT_MS = 5000
const QUERY_TIMEOUT_MS = 15_000
const MAX_CONNECTIONS = 5

export const clientOptions = (connectionString: string) => ({
  connectionString,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  fallback_application_name: 'workflow-service',
})

/** Throws an error for the operator if the server does not answer. */
export async function openPool(connectionString: string): Promise<pg.Pool> {
  const pool = new pg.Pool({
    ...clientOptions(connectionString),
    query_timeout: QUERY_TIMEOUT_MS,
    max: MAX_CONNECTIONS,
  })
  // Without listeners, a broken connection would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  try {
    await pool.query('SELECT 1')
    return pool
  } catch (cause) {
    await pool.end()
    throw new Error(`cannot reach ${withoutSecrets(connectionString)}: ${reasonOf(cause)}`, {
      cause,
    })
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the host is unreachable',
  ENOENT: 'the socket does not exist',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the host name lookup failed',
  ETIMEDOUT: 'no answer',
}

function reasonOf(error: unknown): string {
  const { code = '', message = '' } = Object(error) as { code?: string; message?: string }
  return REASONS[code] ?? (message || code || 'no answer')
}

/** The password may be in the user information or in the parameters. */
function withoutSecrets(connectionString: string): string {
  const { protocol, username, host, pathname } = new URL(connectionString)
  return `${protocol}//${username && `${username}@`}${host}${pathname}`
}
