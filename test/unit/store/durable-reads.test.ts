import { AuditLog, AuditLogs, type EventStore, type ListOptions } from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { expect, it } from 'vitest'
import { scan } from '../../../src/cleaning/scan.js'
import { serve } from '../../support/http.js'

/* Events that leave the process permanently must be durable: each list for such a use requests durable events. */

/** The store, and the options of its lists. */
function noted(store: EventStore): { store: EventStore; options: (ListOptions | undefined)[] } {
  const options: (ListOptions | undefined)[] = []
  const list: EventStore['list'] = (query, given) => {
    options.push(given)
    return store.list(query, given)
  }
  return { store: { ...store, list }, options }
}

const TYPES = { note: {} } as const

/** Each function reads the events of a log. The log has one event. */
const LEAVING: Record<string, (audit: AuditLog<typeof TYPES>) => Promise<unknown>> = {
  pages: (audit) => audit.pages().next(),
  'the state of a resource': (audit) => audit.history({ order_id: 'A-17' }).next(),
  'the events that are archived or removed': (audit) =>
    scan(audit.store, { direction: 'asc' }).next(),
}

it.each(Object.entries(LEAVING))('%s are read once they are durable', async (_, read) => {
  const { store, options } = noted(memoryStore())
  await using audit = new AuditLog({ store, types: TYPES })
  await audit.record('note')
  await read(audit)
  expect(options.length).toBeGreaterThan(0)
  for (const one of options) expect(one).toMatchObject({ durable: true })
})

it('pages of several logs are read once they are durable', async () => {
  const stores = memoryLogs()
  const options: (ListOptions | undefined)[] = []
  const open = (key: string): EventStore => {
    const opened = noted(stores.open(key))
    opened.options.push = (...added) => options.push(...added)
    return opened.store
  }
  await using logs = new AuditLogs({ stores: { ...stores, open }, types: TYPES })
  await logs.log('a').record('note')
  await logs.pages(undefined, { logs: ['a'] }).next()
  expect(options.at(-1)).toMatchObject({ durable: true })
})

it('a request that waits for events gets durable ones', async () => {
  const { store, options } = noted(memoryStore())
  const server = await serve({ store })
  try {
    await server.audit.recordCustom('note')
    await server.send('/api/events', { headers: { prefer: 'wait=60' } })
    expect(options).toContainEqual(expect.objectContaining({ lazy: true, durable: true }))
  } finally {
    await server.close()
  }
})
