/*
 * Exports a large log to itself over a real socket and prints the number of received lines and bytes. Events are
 * generated while they are read, so that only the export uses memory. The parent limits the memory.
 */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuditEvent, AuditLog, type EventStore, formatTimestamp } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { auditRoutes } from 'daybook/node'
import { timeBounds } from '../../src/filter/bounds.js'

const total = Number(process.argv[2])
const START = Date.UTC(2026, 0, 1) * 1000

const eventAt = (n: number): AuditEvent => ({
  id: `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
  created_at: formatTimestamp(START + n),
  username: 'ann',
  system: true,
  type: 'info:load:made',
  source: null,
  attributes: { name: `event ${n}`, text: 'x'.repeat(4000) },
})

const store: EventStore = {
  ...memoryStore(),
  async list({ where, sorts, limit }) {
    const isNewest = sorts.length === 0
    const from = isNewest ? total - limit : Math.max(0, timeBounds(where).from - START)
    const length = Math.min(limit, total - from)
    const events = Array.from({ length }, (_, n) => eventAt(from + n))
    return { events, truncated: from + length < total }
  },
}

const audit = new AuditLog({ store, types: {} })
const server = http.createServer(auditRoutes(audit, { username: () => 'ann' }))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const request = http.get(`http://127.0.0.1:${port}/api/events/export`)
const [incoming] = (await once(request, 'response')) as [http.IncomingMessage]
let [lines, bytes] = [0, 0]
for await (const chunk of incoming as AsyncIterable<Buffer>) {
  bytes += chunk.length
  for (let at = -1; (at = chunk.indexOf('\n', at + 1)) !== -1;) lines++
}
console.log(JSON.stringify({ lines, bytes }))
server.close()
await audit.close()
