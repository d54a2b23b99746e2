import net from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  AuditLog,
  type AuditEvent,
  type EventStore,
  formatTimestamp,
  parseTimestamp,
} from 'daybook'
import { expect, it, onTestFinished } from 'vitest'
import { sqlitePlace } from '../support/event-stores.js'
import { hosts, listen } from '../support/node-server.js'

const past = Array.from({ length: 1000 }, (_, n): AuditEvent => ({
  id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  created_at: formatTimestamp(parseTimestamp('2026-01-01')! + n * 1_000_000),
  username: null,
  system: true,
  type: 'api:a:b',
  source: null,
  attributes: { text: `${n} hay` },
}))

/** Sends a request for a list as ann, on a connection of its own. */
function request(url: string, query: string): net.Socket {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  const credentials = Buffer.from('ann:ann').toString('base64')
  socket.write(
    `GET /api/events?${query} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Basic ${credentials}\r\n\r\n`,
  )
  return socket.on('error', () => {})
}

interface EndlessLists {
  readonly store: EventStore
  /** Resolves when the first list begins. */
  readonly begun: Promise<void>
  /** Resolves to the error with which a list of the inner store has ended the first list. */
  readonly ended: Promise<unknown>
}

/** Repeats each list of the store until it rejects. */
function endless(store: EventStore): EndlessLists {
  let begin: () => void
  let end: (error: unknown) => void
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const ended = new Promise((resolve) => (end = resolve))
  const list: EventStore['list'] = async (query, options) => {
    begin()
    try {
      for (;;) {
        await store.list(query, options)
        await nextTurn()
      }
    } catch (error) {
      end(error)
      throw error
    }
  }
  return { store: { ...store, list }, begun, ended }
}

it.each(['Koa', 'node:http'] as const)(
  'a list is cancelled when its client leaves %s',
  async (name) => {
    const place = await sqlitePlace()
    onTestFinished(() => place.remove())
    const { store, begun, ended } = endless(place.open())
    await using audit = new AuditLog({ store, types: {} })
    await audit.importEvents(past)
    const server = await listen(hosts[name]!.listener(audit))
    const client = request(server.url, 'filter[text_matches]=%25never%25')
    await begun
    client.destroy()
    expect(await ended).toMatchObject({ code: 'ABORTED' })
    await server.close()
  },
)
