import {
  AuditLog,
  type AuditLogOptions,
  AuditLogs,
  type EventStore,
  type EventTypes,
} from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { useLeapingTime } from '../../support/leaping-time.js'
import { turns } from '../fake-store.js'

const time = useLeapingTime()

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
})

const types: EventTypes = {
  'info:own': {},
  'info:pool:full': { collapse: { by: ['pool'], window: { hours: 1 } } },
}

/** A log that records its runs. Closing it does not close the store. */
function open(memory: EventStore, options: Partial<AuditLogOptions<EventTypes>> = {}) {
  const store = faultyStore({ ...memory, close: async () => {} })
  const audit = new AuditLog<EventTypes>({ store, types, ownEvents: { runs: true }, ...options })
  onTestFinished(() => audit.close())
  return { audit, store }
}

/** Lets the heartbeats of the given number of intervals happen. */
async function beat(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    time.leap(5000)
    await vi.advanceTimersByTimeAsync(5000)
    await turns()
  }
}

async function ownEvents(memory: EventStore) {
  const reader = new AuditLog({ store: { ...memory, close: async () => {} }, types })
  const { events } = await reader.list('filter[type_start]=info:audit_log:&limit=100')
  await reader.close()
  return events.map(({ type, attributes }) => ({ type: type.split(':')[2], ...attributes }))
}

it('records nothing unless the option asks for it', async () => {
  const memory = memoryStore()
  const { audit } = open(memory, { ownEvents: undefined })
  await audit.record('info:own')
  await audit.close()
  expect(await ownEvents(memory)).toEqual([])
  expect(await memory.readStates('runs', { limit: 10 })).toEqual([])
})

it('records the start before all other events, and the stop after them', async () => {
  const memory = memoryStore()
  const { audit } = open(memory, {
    cleaning: { rules: [{ target: 'events', name: 'old', maxAge: { years: 1 } }] },
    failurePolicy: 'drop',
  })
  const event = await audit.record('info:own')
  await audit.close()
  const { events } = await new AuditLog({ store: memory, types }).list()
  expect(events.map(({ type }) => type)).toEqual([
    'info:audit_log:start',
    event!.type,
    'info:audit_log:stop',
  ])
  const [start, , stop] = events
  expect(start!.attributes).toMatchObject({
    store: 'memory',
    policies: 'drop',
    rules: [{ name: 'old', target: 'events' }],
  })
  expect(start!.attributes['version']).toMatch(/^\d+\.\d+\.\d+/)
  const { run, config_hash } = start!.attributes
  expect(stop!.attributes).toEqual({ run, config_hash, started_at: start!.created_at })
})

it('records the stop after the counts and the losses that close records', async () => {
  const memory = memoryStore()
  const { audit } = open(memory, { waiting: { maxWaiting: 2 } })
  audit.on('rejected', () => {})
  for (let i = 0; i < 3; i++) await audit.record('info:pool:full', { pool: 'a' })
  const calls = [1, 2, 3].map(() => audit.record('info:own'))
  await Promise.all([Promise.allSettled(calls), audit.close()])
  const { events } = await new AuditLog({ store: memory, types }).list()
  const found = events.map(({ type, attributes: { count } }) => [type, count])
  expect(found).toContainEqual(['info:pool:full', 2])
  expect(found).toContainEqual(['warn:audit_log:gap', 1])
  expect(found.at(-1)).toEqual(['info:audit_log:stop', undefined])
})

it('reports a stop that is lost as one without close', async () => {
  const memory = memoryStore()
  const { audit, store } = open(memory)
  await audit.record('info:own')
  await beat(1)
  store.fail('append')
  await audit.close()
  expect((await ownEvents(memory)).map(({ type }) => type)).toEqual(['start'])
  open(memory)
  await beat(8)
  expect(await ownEvents(memory)).toContainEqual(
    expect.objectContaining({ type: 'stop', unclean: true }),
  )
})

it('reports a stop without close once, by one of several processes', async () => {
  const memory = memoryStore()
  const ended = open(memory)
  await beat(1)
  ended.store.fail('updateState', 1000)
  await beat(1)
  open(memory)
  open(memory)
  await beat(3)
  const stops = async () => (await ownEvents(memory)).filter(({ type }) => type === 'stop')
  expect(await stops()).toEqual([])
  await beat(6)
  const [start] = await ownEvents(memory)
  const run = (start as { run?: unknown } | undefined)?.run
  expect(await stops()).toMatchObject([{ run, unclean: true }])
  await beat(10)
  expect(await stops()).toHaveLength(1)
})

it('records a configuration that differs from that of the last start', async () => {
  const memory = memoryStore()
  const start = async (options: Partial<AuditLogOptions<EventTypes>> = {}): Promise<void> => {
    const { audit } = open(memory, options)
    await beat(1)
    await audit.close()
  }
  await start()
  await start()
  await start({ limits: { maxDepth: 9 } })
  const schema = {
    '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }) },
  }
  Object.assign(schema, { self: schema })
  await start({ types: { 'info:own': { data: schema as never } } })
  const own = await ownEvents(memory)
  const hashes = own.flatMap(({ type, ...one }) => (type === 'start' ? [one] : []))
  expect(new Set(hashes.map((one) => (one as { config_hash?: unknown }).config_hash)).size).toBe(3)
  expect(own.filter(({ type }) => type === 'config')).toHaveLength(2)
})

it('keeps secrets out of the events', async () => {
  const memory = memoryStore()
  const { audit } = open(memory, {
    subscriptions: { secretsKey: Buffer.alloc(32, 'k').toString('base64') },
  })
  await audit.close()
  expect(JSON.stringify(await ownEvents(memory))).not.toContain(
    Buffer.alloc(32, 'k').toString('base64'),
  )
})

it.each([
  ['a misspelt name', { runs: true, read: true }, 'read'],
  ['another value', { runs: 'true' }, 'ownEvents.runs must be true or false'],
])('refuses %s', (_, ownEventsGiven, message) => {
  expect(() => open(memoryStore(), { ownEvents: ownEventsGiven as never })).toThrow(message)
})

it('refuses logs that only read, and runs of many logs', () => {
  expect(() => open(memoryStore(), { readOnly: true })).toThrow('takes no ownEvents')
  const options = { stores: memoryLogs(), types, ownEvents: { runs: true } }
  expect(() => new AuditLogs(options)).toThrow('ownEvents.runs is for a single log')
})
