import Router from '@koa/router'
import { AuditLog, type EventStore, type JsonValue } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { type FaultyStore, faultyStore } from 'daybook/testing'
import type { Middleware } from 'koa'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { useLeapingTime } from '../support/leaping-time.js'
import { turns } from '../unit/fake-store.js'
import { takeWarnings } from '../support/warnings.js'
import { done, type RecordedApp, routed, startRecorded } from './recorded.js'

const time = useLeapingTime()

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
})

/** Lets the logs check their intents, as every five seconds. */
async function check(): Promise<void> {
  time.leap(5000)
  await vi.advanceTimersByTimeAsync(5000)
}

const gap = 'filter[type_eq]=warn:audit_log:gap'

async function start(
  middleware: readonly Middleware[],
  memory: EventStore = memoryStore(),
): Promise<{ app: RecordedApp; store: FaultyStore }> {
  const store = faultyStore(memory)
  const record = { required: true, routes: { 'POST /pings': false } } as const
  const app = await startRecorded(middleware, { store, record })
  onTestFinished(() => app.close())
  return { app, store }
}

const read = (store: EventStore, key: string): Promise<JsonValue | undefined> =>
  store.updateState(key, (value) => value)

/** The intents of all processes. */
async function intentsIn(store: EventStore): Promise<unknown[]> {
  const owners = Object.keys((await read(store, 'intents')) ?? {})
  const intents = await Promise.all(owners.map((owner) => read(store, `intents:${owner}`)))
  return intents.flatMap((of) => Object.values(of ?? {}))
}

it('the store has the intent before the handler runs, and only the outcome in the end', async () => {
  let during: unknown[] = []
  const handler: Middleware = async (ctx) => {
    during = await intentsIn(store)
    ctx.status = 201
  }
  const { app, store } = await start([handler])
  expect(await app.postJson('/orders?a=1', {})).toMatchObject({ status: 201 })
  expect(during).toMatchObject([
    {
      type: 'error:api:controller:unhandled',
      attributes: { request_method: 'POST', request_path: '/orders', unfinished: true },
    },
  ])
  const attributes = { request_path: '/orders', response_status: 201 }
  expect(await app.events()).toMatchObject([{ type: 'api:unmatched:create', attributes }])
  await check()
  await expect.poll(() => intentsIn(store)).toEqual([])
})

it('requests of a turn share the commits of their intents', async () => {
  const { app, store } = await start([done])
  await app.postJson('/orders', {})
  const update = vi.spyOn(store, 'updateState')
  const intents = app.audit.intents()
  await Promise.all(Array.from({ length: 50 }, () => intents.open('a', {})))
  expect(update).toHaveBeenCalledTimes(1)
})

it('answers 503 and does not run the handler if the intent cannot be kept', async () => {
  takeWarnings()
  const handler = vi.fn<Middleware>(done)
  const { app, store } = await start([handler])
  store.fail('updateState')
  const answer = await app.postJson('/orders', {})
  expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
    503,
    { errors: [{ status: '503', code: 'STORE_FAILED' }] },
  ])
  expect(handler).not.toHaveBeenCalled()
  await expect
    .poll(() => app.events())
    .toMatchObject([
      { type: 'error:api:controller:unhandled', attributes: { response_status: 503 } },
    ])
  expect(await app.send('/orders')).toMatchObject({ status: 204 })
  store.heal()
  expect(await app.postJson('/orders', {})).toMatchObject({ status: 204 })
})

it('an outcome that the store refuses is recorded later, and not counted as lost', async () => {
  const { app, store } = await start([done])
  const rejected = vi.fn()
  app.audit.on('rejected', rejected)
  store.fail('append', 2)
  expect(await app.postJson('/orders', {})).toMatchObject({ status: 204 })
  expect(rejected).toHaveBeenCalledOnce()
  await check()
  await turns()
  expect(await app.types()).toEqual([])
  await check()
  await expect.poll(() => app.types()).toEqual(['api:unmatched:create'])
  await app.audit.flush()
  expect((await app.audit.list(gap)).events).toEqual([])
})

it('a request that leaves no event leaves no intent', async () => {
  const router = new Router().post('/pings', done)
  const { app, store } = await start(routed(router))
  expect(await app.postJson('/pings', {})).toMatchObject({ status: 204 })
  expect([await app.types(), await intentsIn(store)]).toEqual([[], []])
})

it.each([
  ['before', ['error:api:controller:unhandled']],
  ['after', ['api:unmatched:create']],
])('one event if the process loses the store %s it records the outcome', async (when, types) => {
  const memory = memoryStore()
  let answer = (): void => {}
  const handled = new Promise<void>((resolve) => (answer = resolve))
  let arrive = (): void => {}
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  const handler: Middleware = async (ctx) => {
    arrive()
    await handled
    ctx.status = 204
  }
  const { app, store } = await start([handler], { ...memory, close: async () => {} })
  const posted = app.postJson('/orders', {})
  await arrived
  if (when === 'after') {
    answer()
    await posted
  }
  store.fail('updateState')
  const other: AuditLog = new AuditLog({ store: memory, types: {} })
  onTestFinished(() => other.close())
  other.intents()
  for (let i = 0; i < 6; i++) await check()
  await expect.poll(() => intentsIn(memory)).toEqual([])
  answer()
  expect(await posted).toMatchObject({ status: 204 })
  const events = await app.events()
  expect(events.map(({ type }) => type)).toEqual(types)
  if (when === 'before') expect(events[0]!.attributes).toMatchObject({ unfinished: true })
  store.heal()
})

it('required must be true or false', async () => {
  const required = 'yes' as unknown as boolean
  const starting = startRecorded([], { record: { required } })
  await expect(starting).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})
