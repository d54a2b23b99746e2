import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import {
  AuditLog,
  type AuditLogOptions,
  type CountMessage,
  defineEventTypes,
  type ListMessage,
  parseQuery,
  type RecordMessage,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import { expect, it, onTestFinished } from 'vitest'

const types = defineEventTypes({
  'warn:disk:full': { throttle: { period: { hours: 1 } } },
  'api:orders:create': {},
})

function open(options: Partial<AuditLogOptions<typeof types>> = {}): AuditLog<typeof types> {
  const audit = new AuditLog({ store: memoryStore(), types, ...options })
  audit.on('rejected', () => {})
  onTestFinished(() => audit.close())
  return audit
}

const channels = {
  record: tracingChannel<unknown, RecordMessage>('daybook:record'),
  list: tracingChannel<unknown, ListMessage>('daybook:list'),
  count: tracingChannel<unknown, CountMessage>('daybook:count'),
}

/** The messages of a channel, each with its stages. */
function messagesOf<Message extends object>(channel: TracingChannel<unknown, Message>) {
  const seen = new Map<Message, string[]>()
  const note = (stage: string) => (message: Message) => {
    const stages = seen.get(message)
    if (stages) stages.push(stage)
    else seen.set(message, [stage])
  }
  const subscribers = {
    start: note('start'),
    end: note('end'),
    asyncStart: note('asyncStart'),
    asyncEnd: note('asyncEnd'),
    error: note('error'),
  }
  const stop = (): void => channel.unsubscribe(subscribers)
  channel.subscribe(subscribers)
  onTestFinished(stop)
  return {
    stop,
    all: () => [...seen].map(([message, stages]) => ({ message, stages: stages.join(' ') })),
  }
}

const DONE = 'start end asyncStart asyncEnd'
const FAILED = 'start end error asyncStart asyncEnd'

it('daybook:record has each call with its event, before the call resolves', async () => {
  const audit = open()
  const { all, stop } = messagesOf(channels.record)
  const call = audit.record('api:orders:create', { total: 3 })
  expect(all()).toEqual([{ message: { audit, type: 'api:orders:create' }, stages: 'start end' }])
  const event = await call
  expect(all()).toMatchObject([{ message: { result: event }, stages: DONE }])
  await audit.recordCustom('own')
  await audit.record('warn:disk:full')
  expect(await audit.record('warn:disk:full')).toBeUndefined()
  expect(all().map(({ message, stages }) => [message.type, message.result?.type, stages])).toEqual([
    ['api:orders:create', 'api:orders:create', DONE],
    ['own', 'own', DONE],
    ['warn:disk:full', 'warn:disk:full', DONE],
    ['warn:disk:full', undefined, DONE],
  ])
  stop()
  await audit.recordCustom('unheard')
  expect(all()).toHaveLength(4)
})

it('daybook:record has the error of a rejected call, and does not change the call', async () => {
  const store = faultyStore(memoryStore())
  const audit = open({ store })
  const { all } = messagesOf(channels.record)
  store.fail('append', 1)
  const failed: unknown = await audit.recordCustom('one').catch((error: unknown) => error)
  const unknown: unknown = await audit
    .record('no:such:type' as 'api:orders:create')
    .catch((error: unknown) => error)
  expect(all()).toEqual([
    { message: { audit, type: 'one', error: failed }, stages: FAILED },
    { message: { audit, type: 'no:such:type', error: unknown }, stages: FAILED },
  ])
  expect(failed).toMatchObject({ code: 'STORE_FAILED' })
  expect(unknown).toMatchObject({ code: 'UNKNOWN_EVENT_TYPE' })
})

it('calls keep their order with and without a subscriber', async () => {
  const audit = open()
  const first = audit.recordCustom('a')
  const { stop } = messagesOf(channels.record)
  const others = [audit.recordCustom('b'), audit.recordCustom('c')]
  stop()
  await Promise.all([first, ...others, audit.recordCustom('d')])
  expect((await audit.list()).events.map(({ type }) => type)).toEqual(['a', 'b', 'c', 'd'])
})

it('daybook:list has each query of list and pages, and daybook:count each count', async () => {
  const audit = open()
  await audit.recordCustom('own')
  const lists = messagesOf(channels.list)
  const counts = messagesOf(channels.count)
  const query = 'filter[type_eq]=own'
  const page = await audit.list(query)
  for await (const events of audit.pages(query)) expect(events).toHaveLength(1)
  const counted = await audit.count(query)
  const { where } = parseQuery(query)
  expect(lists.all()).toMatchObject([
    { message: { audit, method: 'list', query: { where }, result: page }, stages: DONE },
    { message: { audit, method: 'pages', query: { where } }, stages: DONE },
  ])
  expect(counts.all()).toMatchObject([
    { message: { audit, query: { where }, result: counted }, stages: DONE },
  ])
})

it('daybook:list and daybook:count have the error of a query that failed', async () => {
  const store = faultyStore(memoryStore())
  const audit = open({ store })
  const lists = messagesOf(channels.list)
  const counts = messagesOf(channels.count)
  store.fail('list')
  store.fail('count')
  await expect(audit.list()).rejects.toThrow()
  await expect(audit.count()).rejects.toThrow()
  const failed = [{ message: { error: { code: 'STORE_FAILED' } }, stages: FAILED }]
  expect(lists.all()).toMatchObject(failed)
  expect(counts.all()).toMatchObject(failed)
})
