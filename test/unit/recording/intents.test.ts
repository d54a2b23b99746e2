import { AuditLog, type AuditLogOptions, type JsonValue, withActor } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { type FaultyStore, faultyStore } from 'daybook/testing'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { useLeapingTime } from '../../support/leaping-time.js'
import { turns } from '../fake-store.js'
import { memoryJournal } from '../memory-journal.js'

const types = {
  'info:strict': { data: ['n'] },
  'warn:throttled:g': { throttle: { period: { hours: 1 } } },
} as const

const time = useLeapingTime()

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
})

const stateOf = (store: FaultyStore): Promise<JsonValue | undefined> =>
  store.updateState('intents', (value) => value)

/** A log, and its store, which stays open. */
function open(options: Partial<AuditLogOptions<typeof types>> = {}, memory = memoryStore()) {
  const store = faultyStore({ ...memory, close: async () => {} })
  const audit = new AuditLog({ store, types, ...options })
  onTestFinished(() => audit.close())
  audit.on('rejected', () => {})
  const stored = async (): Promise<unknown[]> =>
    (await audit.list()).events.map(({ type, attributes }) => [type, attributes])
  return { audit, store, memory, intents: audit.intents(), stored }
}

async function check(times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    time.leap(5000)
    await vi.advanceTimersByTimeAsync(5000)
    await turns()
  }
}

it('close leaves nothing in the store if no intent is open', async () => {
  const { audit, intents, store } = open()
  const intent = await intents.open('a', {})
  await intent.record('b', {})
  expect(await stateOf(store)).toBeDefined()
  await audit.close()
  expect(await stateOf(store)).toBeUndefined()
  await expect(intents.open('a', {})).rejects.toMatchObject({ code: 'CLOSED' })
})

it('close leaves an open intent to the next process, also one whose outcome comes too late', async () => {
  const { audit, intents, memory } = open()
  const late = await intents.open('late', { n: 1 }, { username: 'ann' })
  await intents.open('open', { n: 2 })
  await audit.close()
  await expect(late.record('b', {})).rejects.toMatchObject({ code: 'CLOSED' })
  const next = open({}, memory)
  await check(6)
  await expect.poll(next.stored).toMatchObject([
    ['late', { n: 1, occurred_at: expect.any(String) as string }],
    ['open', { n: 2 }],
  ])
  expect((await next.audit.list('filter[username_eq]=ann')).events).toHaveLength(1)
  await expect.poll(() => stateOf(next.store)).toBeUndefined()
})

it('takes over nothing from a live process', async () => {
  const { intents, memory, stored } = open()
  await intents.open('a', {})
  open({}, memory)
  await check(10)
  expect(await stored()).toEqual([])
})

it('a slow takeover does not delay the next one', async () => {
  const { audit, intents, memory } = open()
  await intents.open('first', {})
  await audit.close()
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const updateState: typeof memory.updateState = async (key, ...rest) => {
    if (key.startsWith('intents:')) await released
    return memory.updateState(key, ...rest)
  }
  const { stored } = open({}, { ...memory, updateState })
  await check(3)
  const second = open({}, memory)
  await second.intents.open('second', {})
  await second.audit.close()
  await check(7)
  expect(await stored()).toEqual([])
  release()
  await expect.poll(stored).toMatchObject([['first', {}]])
  await check(2)
  await expect.poll(stored).toMatchObject([
    ['first', {}],
    ['second', {}],
  ])
})

it('an outcome that strict mode refuses is recorded later', async () => {
  const { intents, stored } = open({ strict: true })
  const intent = await intents.open('a', {})
  const recording = intent.record('info:strict', { m: 1 })
  await expect(recording).rejects.toMatchObject({ code: 'INVALID_DATA' })
  await check()
  await expect.poll(stored).toEqual([['info:strict', { m: 1 }]])
})

it('an outcome that cannot be an event becomes the event of the intent, with the error', async () => {
  const { intents, stored } = open()
  const intent = await intents.open('a', { error: 'interrupted', n: 1 })
  await expect(intent.record('', {})).rejects.toMatchObject({ code: 'INVALID_EVENT' })
  await check()
  const error = 'the event type must have 1 to 255 characters'
  await expect.poll(stored).toMatchObject([['a', { n: 1, error }]])
})

it('an intent becomes one event through the journal', async () => {
  const journal = memoryJournal()
  const { intents, store, stored } = open({ journal, failurePolicy: 'queue' })
  const intent = await intents.open('a', {})
  store.fail('append', 1)
  expect(await intent.record('b', {})).toBeUndefined()
  expect(journal.length).toBe(1)
  await expect.poll(() => journal.length).toBe(0)
  await check(6)
  await expect.poll(stored).toMatchObject([['b', {}]])
})

it('no intent is dropped', async () => {
  const { intents, store, stored } = open({ failurePolicy: 'drop' })
  const intent = await intents.open('a', {})
  store.fail('append', 1)
  await expect(intent.record('b', {})).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await check()
  await expect.poll(stored).toMatchObject([['b', {}]])
})

it('an outcome that its throttle suppresses leaves no intent', async () => {
  const { audit, intents, stored } = open()
  await audit.record('warn:throttled:g')
  const intent = await intents.open('a', {})
  expect(await intent.record('warn:throttled:g', {})).toBeUndefined()
  await audit.close()
  expect(await stored()).toHaveLength(1)
})

it('opening rejects if the store does not answer in time, or too many are open', async () => {
  const hanging = open({ waiting: { deadlineMs: 30 } })
  hanging.store.hang('updateState')
  await expect(hanging.intents.open('a', {})).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  hanging.store.heal()
  const { intents } = open({ waiting: { maxWaiting: 1 } })
  await intents.open('b', {})
  await expect(intents.open('c', {})).rejects.toMatchObject({ code: 'QUEUE_FULL' })
})

it('the event of an intent has the actor as whom it was opened', async () => {
  const { audit, intents, stored } = open()
  const actor = { username: 'ann', on_behalf_of: 'bob' }
  const intent = await withActor(actor, () => intents.open('a', {}))
  intent.fail('broken')
  await check()
  await expect.poll(stored).toMatchObject([['a', { error: 'broken', on_behalf_of: 'bob' }]])
  expect((await audit.list()).events[0]!.username).toBe('ann')
})
