import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveJobs } from '../harness/workers.js'

/* Receives webhooks: reads each request, and responds with 204. Answers any job with its URL. */

const server = http.createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

serveJobs(
  () => `http://127.0.0.1:${port}/`,
  () => {
    server.closeAllConnections()
    server.close()
  },
)
