import { setTimeout as delay } from 'node:timers/promises'
import { type EventStore, parseQuery } from 'daybook'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { oldEvent } from '../../support/imported-event.js'
import { DEADLINE_MS, driveDeadlines } from '../../support/deadlines.js'
import { APPEND, type Proxy, startProxyOf } from '../../support/proxy.js'
import { useSchemas } from '../../support/schemas.js'
import { takeWarnings } from '../../support/warnings.js'

/** Matches the statement whose commit confirms earlier ones. */
const CONFIRM = ['pg_logical_emit_message', '_confirm\0']

/* Connections that break during a commit. Then it is not known whether the commit took effect. */

const { database, schema, openStore } = useSchemas('broken_commits')

let proxy: Proxy
let store: EventStore
beforeEach(async () => {
  const through = await startProxyOf(database().url)
  proxy = through.proxy
  store = openStore({ connectionString: through.url })
  // Creates the partition, so that the next import commits once.
  await store.importEvents([oldEvent()])
})
afterEach(async () => {
  proxy.heal()
  await store.close()
  await proxy.close()
})

/** Time for which calls retry, less what an attempt may have taken of it. */
const RETRY_MS = 8000

/** Loses the answer to the next commit, or the commit itself. Then nothing is transmitted until `heal`. */
const breakCommit = (lost: 'answer' | 'statement'): Promise<void> => proxy.breakAt('COMMIT\0', lost)

const settled = (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error: { code: string }) => error.code)

/** The outcome of a call whose retries end at once. */
async function withoutRetries(
  call: Promise<unknown>,
  isBroken: Promise<void>,
  passDeadlines: () => void,
): Promise<unknown> {
  const outcome = settled(call)
  let isSettled = false
  void outcome.finally(() => (isSettled = true))
  await isBroken
  while (!isSettled) {
    passDeadlines()
    await delay(10)
  }
  return outcome
}

it.each(['answer', 'statement'] as const)(
  'an import finds out the outcome of its commit if the %s is lost',
  async (lost) => {
    const events = [oldEvent(), oldEvent()]
    const isBroken = breakCommit(lost)
    const call = store.importEvents(events)
    await isBroken
    proxy.heal()
    expect(await call).toEqual({ imported: 2, skipped: 0 })
    expect(await store.importEvents(events)).toEqual({ imported: 0, skipped: 2 })
  },
)

it.each(['answer', 'statement'] as const)(
  'the outcome of an import is unknown if the %s of its commit is lost, and then the server',
  async (lost) => {
    const passDeadlines = driveDeadlines(RETRY_MS)
    const isBroken = breakCommit(lost)
    const call = store.importEvents([oldEvent()])
    expect(await withoutRetries(call, isBroken, passDeadlines)).toBe('OUTCOME_UNKNOWN')
  },
)

it('an import that breaks before its commit is repeated, and then has failed', async () => {
  const isBrokenOnce = proxy.breakAt(`INSERT INTO "${schema()}".events`, 'statement')
  const first = store.importEvents([oldEvent()])
  await isBrokenOnce
  proxy.heal()
  expect(await first).toEqual({ imported: 1, skipped: 0 })
  const passDeadlines = driveDeadlines(RETRY_MS)
  const isBroken = proxy.breakAt(`INSERT INTO "${schema()}".events`, 'statement')
  const second = store.importEvents([oldEvent()])
  expect(await withoutRetries(second, isBroken, passDeadlines)).toBe('STORE_FAILED')
})

it('a change of a shared value is not repeated after its commit', async () => {
  let changes = 0
  const isBroken = breakCommit('answer')
  const call = settled(store.updateState('key', () => ++changes))
  await isBroken
  expect(await call).toBe('OUTCOME_UNKNOWN')
  expect(changes).toBe(1)
})

it('the outcome of the end of a live event is unknown if the server stays away', async () => {
  const passDeadlines = driveDeadlines(RETRY_MS)
  const [event] = await store.append([draft({ n: 1 }, { live: true })])
  const isBroken = proxy.breakAt(`DELETE FROM "${schema()}".live_events`, 'answer')
  const call = store.closeLive(event!.id, { revision: 1, json: '{"n":2}' })
  expect(await withoutRetries(call, isBroken, passDeadlines)).toBe('OUTCOME_UNKNOWN')
  proxy.heal()
  expect((await store.get(event!.id))!.attributes).toEqual({ n: 2 })
})

describe('an append with a broken confirming commit', () => {
  let pool: pg.Pool
  // Sends statements one after another, so that the append itself is answered.
  beforeEach(async () => {
    await store.close()
    const url = new URL(database().url)
    url.host = `127.0.0.1:${proxy.port}`
    pool = new pg.Pool({ connectionString: url.href })
    // Its idle connections break with the server.
    pool.on('error', () => {})
    store = openStore({ pool })
    await store.append([draft({ n: 0 })])
  })
  afterEach(async () => {
    await store.close()
    await pool.end()
  })
  const breakConfirm = (lost: 'answer' | 'statement'): Promise<void> => proxy.breakAt(CONFIRM, lost)
  const found = async (): Promise<readonly unknown[]> =>
    (await store.list(parseQuery('filter[n_eq]=1'))).events

  it.each(['answer', 'statement'] as const)(
    'is found and confirmed by the next attempt if the %s is lost',
    async (lost) => {
      const isBroken = breakConfirm(lost)
      const call = store.append([draft({ n: 1 })])
      await isBroken
      proxy.heal()
      expect(await found()).toEqual(await call)
    },
  )

  it('has an unknown outcome if the server stays unreachable, and its event stays', async () => {
    const stop = new AbortController()
    const isBroken = breakConfirm('answer')
    const call = settled(store.append([draft({ n: 1 })], { signal: stop.signal }))
    await isBroken
    stop.abort()
    expect(await call).toBe('OUTCOME_UNKNOWN')
    proxy.heal()
    await store.append([draft({ n: 2 })])
    expect(await found()).toHaveLength(1)
  })

  it('has an unknown outcome if the commit hangs beyond the deadline, and its event stays', async () => {
    const passDeadlines = driveDeadlines()
    const isStalled = proxy.stallAt(CONFIRM)
    const deadline = performance.now() + DEADLINE_MS
    const call = settled(store.append([draft({ n: 1 })], { deadline }))
    await isStalled
    passDeadlines()
    expect(await call).toBe('OUTCOME_UNKNOWN')
    await store.append([draft({ n: 2 })])
    expect(await found()).toHaveLength(1)
  })
})

it.each([
  ['stays, with a warning, if the server does not answer', false],
  ['is removed, without a warning, if the server answers', true],
])('an event of a rejected call %s before the store is closed', async (_, answers) => {
  const stop = new AbortController()
  const isBroken = proxy.breakAt(APPEND, 'answer')
  const call = settled(store.append([draft({ n: 1 })], { signal: stop.signal }))
  await isBroken
  stop.abort()
  expect(await call).toBe('ABORTED')
  if (answers) proxy.heal()
  const warnings = takeWarnings()
  await store.close()
  expect(warnings).toEqual(
    answers ? [] : [expect.stringMatching(/^the log may have up to 1 event whose call/)],
  )
  store = openStore()
  const { events } = await store.list(parseQuery('filter[n_eq]=1'))
  expect(events).toHaveLength(answers ? 0 : 1)
})
