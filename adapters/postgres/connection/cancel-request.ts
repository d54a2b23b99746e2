import net from 'node:net'
import type { PostgresPoolClient } from './client.js'

/** https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-CANCELREQUEST */
const CANCEL_REQUEST = 80_877_102

/** The members of a `Client` of pg by which its statement can be cancelled. */
interface Cancellable {
  readonly host?: string
  readonly port?: number
  readonly secretKey?: unknown
}

/**
 * Asks the other end of the connection, a server or a pooler, to cancel its statement: only a pooler knows which process of
 * the server works for it. As in libpq before version 17 the request is not encrypted. Resolves once the request is taken.
 */
export function sendCancelRequest(client: PostgresPoolClient, signal: AbortSignal): Promise<void> {
  const { host = 'localhost', port = 5432, secretKey } = client as Cancellable
  const { processID } = client
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return Promise.resolve()
  const packet = Buffer.alloc(16)
  for (const [i, value] of [packet.length, CANCEL_REQUEST, processID, secretKey].entries())
    packet.writeInt32BE(value, 4 * i)
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  return new Promise((resolve, reject) => {
    const socket = net.connect({ ...target, signal } as net.NetConnectOpts)
    socket.once('error', reject)
    socket.once('close', () => resolve())
    socket.resume()
    // The other side closes the connection. PgBouncer drops a request whose sender has closed it.
    socket.write(packet)
  })
}
