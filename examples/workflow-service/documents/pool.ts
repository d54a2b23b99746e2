import pg from 'pg'

const CONNECT_TIMEOUT_MS = 5000
const QUERY_TIMEOUT_MS = 15_000
const MOST_CONNECTIONS = 5

export const clientOptions = (connectionString: string) => ({
  connectionString,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  fallback_application_name: 'workflow-service',
})

/** A pool whose server answers, or an error for whoever started the service. */
export async function openPool(connectionString: string): Promise<pg.Pool> {
  const pool = new pg.Pool({
    ...clientOptions(connectionString),
    query_timeout: QUERY_TIMEOUT_MS,
    max: MOST_CONNECTIONS,
  })
  // Without listeners a connection that breaks ends the process, idle or between two statements.
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
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  ENOENT: 'there is no such socket',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  ETIMEDOUT: 'no answer',
}

function reasonOf(error: unknown): string {
  const { code = '', message = '' } = Object(error) as { code?: string; message?: string }
  return REASONS[code] ?? (message || code || 'no answer')
}

/** The password can stand before the host, or among the parameters. */
function withoutSecrets(connectionString: string): string {
  const { protocol, username, host, pathname } = new URL(connectionString)
  return `${protocol}//${username && `${username}@`}${host}${pathname}`
}
