import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../adapters/cli/feed/client.js'

/** A server that closes the connection of its first request without an answer, as at the end of an idle time. */
async function closingServer(): Promise<{ url: string; methods: (string | undefined)[] }> {
  const methods: (string | undefined)[] = []
  const server = http.createServer(({ method, socket }, response) => {
    if (methods.push(method) === 1) socket.destroy()
    else response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, methods }
}

const client = createClient({}, async () => undefined)

it('a request to read is sent again if its connection is closed without an answer', async () => {
  const { url, methods } = await closingServer()
  expect((await client.send(url)).status).toBe(200)
  expect(methods).toEqual(['GET', 'GET'])
})

it('a request to write is sent once', async () => {
  const { url, methods } = await closingServer()
  await expect(client.send(url, { method: 'POST', form: 'q=1' })).rejects.toThrow(/127\.0\.0\.1/)
  expect(methods).toEqual(['POST'])
})
