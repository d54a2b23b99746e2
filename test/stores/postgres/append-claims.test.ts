import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent, type EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteJournal } from 'daybook/sqlite'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../src/event/event.js'
import { draft, throttled } from '../../../src/testing/conformance/helpers.js'
import { useLeapingTime } from '../../support/leaping-time.js'
import { APPEND, type Proxy, startProxyOf } from '../../support/proxy.js'
import { holdOrderLock, waitingForOrder } from '../../support/order-lock.js'
import { useSchemas } from '../../support/schemas.js'
import { tempDir } from '../../support/temp.js'

/*
 * If a rejected event was stored nevertheless, the next append of the process removes it. If the call had an
 * idempotency key, another process may already have acknowledged the same event.
 */

const { database, schema, query } = useSchemas('claims')

const DEADLINE_MS = 10_000

const time = useLeapingTime()

const opened: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

/** A store that stands for a process, behind a separate proxy. */
interface Process {
  readonly store: EventStore
  readonly proxy: Proxy
}

async function startProcess(): Promise<Process> {
  const { proxy, url } = await startProxyOf(database().url)
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {})
  opened.push(() => Promise.all([pool.end(), proxy.close()]))
  const store = postgresStore({ pool, schema: schema() })
  await store.openEvents()
  return { store, proxy }
}

interface Recording extends Process {
  readonly audit: AuditLog
}

async function startRecording(
  options: Pick<ConstructorParameters<typeof AuditLog>[0], 'journal' | 'failurePolicy'> = {},
): Promise<Recording> {
  const process = await startProcess()
  const audit = new AuditLog({
    store: process.store,
    types: {},
    waiting: { deadlineMs: DEADLINE_MS },
    ...options,
  })
  opened.push(() => audit.close())
  return { ...process, audit }
}

/** The call that a client repeats until it is acknowledged. */
const record = ({ audit }: Recording): Promise<AuditEvent | undefined> =>
  audit.recordCustom('test:keyed', { n: 1 }, { idempotencyKey: 'once' })

const LOST = ['answer', 'statement'] as const
type Lost = (typeof LOST)[number]

/** Breaks the connection at the next append, and lets the deadline pass. */
async function cutOff({ proxy }: Recording, lost: Lost): Promise<void> {
  await proxy.breakAt(APPEND, lost)
  time.leap(DEADLINE_MS)
}

/** The process is cut off at its append, and rejects the call. */
async function rejects(process: Recording, lost: Lost): Promise<void> {
  const isCutOff = cutOff(process, lost)
  await Promise.all([
    isCutOff,
    expect(record(process)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' }),
  ])
}

/** Checks that the next append of the process succeeds. It also removes rejected events. */
async function recovers({ audit, proxy }: Recording): Promise<void> {
  proxy.heal()
  await audit.recordCustom('test:other')
}

/** The suffixes of the stored events of the type. */
async function storedSuffixes(type: string): Promise<string[]> {
  const sql = 'SELECT suffix FROM %events WHERE type = $1 ORDER BY created_at'
  return (await query<{ suffix: string }>(sql, [type])).map(({ suffix }) => suffix)
}

/** The acknowledged event is stored once. */
async function expectStored({ audit }: Recording, event: AuditEvent | undefined): Promise<void> {
  expect(event?.attributes).toEqual({ n: 1 })
  expect(await audit.get(event!.id)).toEqual(event)
  expect(await storedSuffixes('test:keyed')).toHaveLength(1)
}

describe.each(LOST)('if the %s of the first process is lost', (lost) => {
  it('an event that another process acknowledged stays', async () => {
    const [a, b] = [await startRecording(), await startRecording()]
    await rejects(a, lost)
    const event = await record(b)
    await recovers(a)
    await expectStored(b, event)
  })

  it('an event that another process acknowledges later stays', async () => {
    const [a, b] = [await startRecording(), await startRecording()]
    await rejects(a, lost)
    await recovers(a)
    expect(await storedSuffixes('test:keyed')).toEqual([])
    const event = await record(b)
    await recovers(a)
    await expectStored(b, event)
  })

  it.each([
    { order: [0, 1], name: 'first' },
    { order: [1, 0], name: 'second' },
  ])(
    'an event that both processes have rejected is removed if the $name process recovers first',
    async ({ order }) => {
      const processes = [await startRecording(), await startRecording()]
      await rejects(processes[0]!, lost)
      // The event that the second process finds is older than its own newest event.
      await processes[1]!.audit.recordCustom('test:other')
      await rejects(processes[1]!, 'answer')
      expect(await storedSuffixes('test:keyed')).toHaveLength(1)
      for (const i of order) await recovers(processes[i]!)
      expect(await storedSuffixes('test:keyed')).toEqual([])
    },
  )
})

/** Queues appends for the lock in this order. Each waits before the next one begins. */
async function inOrder(...calls: (() => Promise<unknown>)[]): Promise<unknown[]> {
  const release = await holdOrderLock(database().pool, schema())
  const begun: Promise<unknown>[] = []
  let ended = 0
  try {
    for (const call of calls) {
      begun.push(call().finally(() => ended++))
      for (let waiting = 0; waiting + ended < begun.length; await delay(5))
        waiting = (await waitingForOrder(database().pool, schema())).length
    }
  } finally {
    await release()
  }
  return Promise.all(begun)
}

it('an event that is removed while another process searches for it is stored again', async () => {
  const [a, b] = [await startRecording(), await startRecording()]
  await rejects(a, 'answer')
  const [, event] = await inOrder(
    () => recovers(a),
    () => record(b),
  )
  await expectStored(b, event as AuditEvent)
})

it('an event that another process finds first is not removed', async () => {
  const [a, b] = [await startRecording(), await startRecording()]
  await rejects(a, 'answer')
  const [event] = await inOrder(
    () => record(b),
    () => recovers(a),
  )
  await expectStored(b, event as AuditEvent)
})

it('a draft from the journal is the event that another process acknowledged', async () => {
  const { file, remove } = tempDir()
  opened.push(() => Promise.resolve(remove()))
  const journal = sqliteJournal({ filename: file('journal.db') })
  const a = await startRecording({ journal, failurePolicy: 'queue' })
  const b = await startRecording()
  const isCutOff = cutOff(a, 'answer')
  expect(await record(a)).toBeUndefined()
  await isCutOff
  const event = await record(b)
  a.proxy.heal()
  // The journal stores this event after the other.
  await a.audit.recordCustom('test:other')
  while ((await storedSuffixes('test:other')).length === 0) await delay(10)
  await expectStored(b, event)
})

describe('an event with a draft that two calls append', () => {
  const since = 0
  const append = (store: EventStore, one: EventDraft): Promise<readonly AuditEvent[]> =>
    store.append([one], { since })

  /** The process is cut off at its append, and aborts the call. */
  async function loses(
    { store, proxy }: Process,
    one: EventDraft,
    lost: Lost = 'answer',
  ): Promise<void> {
    const giveUp = new AbortController()
    const isCutOff = proxy.breakAt(APPEND, lost).then(() => giveUp.abort())
    await Promise.all([
      isCutOff,
      expect(store.append([one], { since, signal: giveUp.signal })).rejects.toMatchObject({
        code: 'ABORTED',
      }),
    ])
    proxy.heal()
  }

  const startStore = async (): Promise<Process> => {
    const process = await startProcess()
    opened.push(() => process.store.close())
    return process
  }

  it('is not removed by the process that acknowledged it before', async () => {
    const a = await startStore()
    const one = draft({ n: 1 })
    const [event] = await append(a.store, one)
    await loses(a, one)
    // This append searches from a time before the first event.
    await append(a.store, draft({ n: 2 }, { type: 'test:other' }))
    expect(await a.store.get(event!.id)).toEqual(event)
  })

  it('is not removed after the process that lost it has appended it again', async () => {
    const [a, b] = [await startStore(), await startStore()]
    const one = draft({ n: 1 })
    await loses(a, one)
    const [event] = await append(a.store, one)
    await loses(b, one)
    for (const { store } of [a, b]) await store.append([draft({ n: 2 }, { type: 'test:other' })])
    expect(await a.store.get(event!.id)).toEqual(event)
    expect(await storedSuffixes('test:event')).toEqual([one.suffix])
  })

  /** Makes every claim a day older, so that it expires. */
  const letDayPass = (): Promise<unknown> =>
    query(`UPDATE %append_claims SET claimed_at = claimed_at - interval '25 hours'`)

  it.each(LOST)('is not removed if its claims have expired and the %s is lost', async (lost) => {
    const [a, b] = [await startStore(), await startStore()]
    const one = draft({ n: 1 })
    const [event] = await append(a.store, one)
    await letDayPass()
    await loses(b, one, lost)
    await b.store.append([draft({ n: 2 }, { type: 'test:other' })])
    expect(await a.store.get(event!.id)).toEqual(event)
    expect(await claims()).not.toContain(one.suffix)
  })

  const claims = async (): Promise<string[]> => {
    const sql = 'SELECT suffix FROM %append_claims ORDER BY claimed_at'
    return (await query<{ suffix: string }>(sql)).map(({ suffix }) => suffix)
  }

  it('is claimed for a day', async () => {
    const a = await startStore()
    const [one, two, three] = [draft({ n: 1 }), draft({ n: 2 }), draft({ n: 3 })]
    await append(a.store, one)
    await append(a.store, two)
    await a.store.append([draft({ n: 0 })])
    expect(await claims()).toEqual([one.suffix, two.suffix])
    await query(
      `UPDATE %append_claims SET claimed_at = claimed_at - interval '25 hours' WHERE suffix = $1`,
      [one.suffix],
    )
    await append(a.store, three)
    expect(await claims()).toEqual([two.suffix, three.suffix])
  })

  it('is not claimed if its throttle suppresses it', async () => {
    const a = await startStore()
    const [passing, suppressed] = [throttled({ n: 1 }), throttled({ n: 2 })]
    expect(await append(a.store, passing)).toHaveLength(1)
    expect(await append(a.store, suppressed)).toEqual([])
    expect(await claims()).toEqual([passing.suffix])
  })
})
