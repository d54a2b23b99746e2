import { once } from 'node:events'
import net from 'node:net'

/* Requests and responses as they are on the connection. */

export const CLOSE = 'Connection: close\r\n'

export const rawRequest = (line: string, headers = '', body = ''): string =>
  `${line} HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`

/** The response bytes of one connection, without dates. */
export async function responsesTo(port: number, sent: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(sent)
  await once(socket, 'end')
  socket.end()
  return Buffer.concat(chunks)
    .toString('latin1')
    .replaceAll(/^Date: .*\r\n/gim, '')
}
