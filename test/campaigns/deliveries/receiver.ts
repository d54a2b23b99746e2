import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuditEvent } from 'daybook'
import { type Arrival, arrivalsFile, PROCESS_HEADER } from './log.js'

/* Receives webhooks: `<folder>`. Writes each webhook to a file before it responds. Prints its URL. */

const [folder = ''] = process.argv.slice(2)
const file = arrivalsFile(folder, 'webhook')

const server = http.createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => (body += text))
  request.on('end', () => {
    const { data } = JSON.parse(body) as { readonly data: readonly AuditEvent[] }
    const arrival: Arrival = {
      at: Date.now(),
      process: String(request.headers[PROCESS_HEADER]),
      events: data.map(({ created_at, attributes }) => ({
        key: attributes['key'] as string,
        created_at,
      })),
    }
    fs.appendFileSync(file, `${JSON.stringify(arrival)}\n`)
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`)
})
