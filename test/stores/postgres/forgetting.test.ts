import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent, type EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteJournal } from 'daybook/sqlite'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import type { EventDraft } from '../../../src/event/event.js'
import { draft, throttled } from '../../../src/testing/conformance/helpers.js'
import { useLeapingTime } from '../../support/leaping-time.js'
import { type Proxy, startProxy } from '../../support/proxy.js'
import { useSchemas } from '../../support/schemas.js'
import { tempDir } from '../../support/temp.js'

/*
 * What a process was told is not kept it has the next append remove. Where calls have an idempotency
 * key, another process may have had the same event kept by then.
 */

const { database, schema } = useSchemas('forgetting')

const DEADLINE_MS = 10_000

const time = useLeapingTime()

const opened: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

/** A store as another process has it, behind a network of its own. */
interface Process {
  readonly store: EventStore
  readonly proxy: Proxy
}

async function startProcess(): Promise<Process> {
  const url = new URL(database().url)
  const proxy = await startProxy({ host: '127.0.0.1', port: Number(url.port) })
  url.port = String(proxy.port)
  const pool = new pg.Pool({ connectionString: url.href })
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

/** The call that the client makes again, until somebody answers. */
const record = ({ audit }: Recording): Promise<AuditEvent | undefined> =>
  audit.recordCustom('test:keyed', { n: 1 }, { idempotencyKey: 'once' })

const appendIn = (): string => `"${schema()}".append(`

const LOST = ['answer', 'statement'] as const
type Lost = (typeof LOST)[number]

/** Cuts the process off at its next append, and ends its deadline then. */
async function cutOff({ proxy }: Recording, lost: Lost): Promise<void> {
  await proxy.breakAt(appendIn(), lost)
  time.leap(DEADLINE_MS)
}

/** The process is cut off at its append, and answers that the event is not stored. */
async function rejects(process: Recording, lost: Lost): Promise<void> {
  const isCutOff = cutOff(process, lost)
  await Promise.all([
    isCutOff,
    expect(record(process)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' }),
  ])
}

/** Its next append is there, and with it what was rejected is cleared up. */
async function comesBack({ audit, proxy }: Recording): Promise<void> {
  proxy.heal()
  await audit.recordCustom('test:other')
}

/** The tails of what is kept, as the database has it. */
async function keptTails(type: string): Promise<string[]> {
  const { rows } = await database().pool.query<{ suffix: string }>(
    `SELECT suffix FROM ${schema()}.events WHERE type = $1 ORDER BY created_at`,
    [type],
  )
  return rows.map(({ suffix }) => suffix)
}

/** One event, that which was acknowledged. */
async function expectKept({ audit }: Recording, event: AuditEvent | undefined): Promise<void> {
  expect(event?.attributes).toEqual({ n: 1 })
  expect(await audit.get(event!.id)).toEqual(event)
  expect(await keptTails('test:keyed')).toHaveLength(1)
}

describe.each(LOST)('the %s of the first process gets lost', (lost) => {
  it('what another one has acknowledged stays', async () => {
    const [a, b] = [await startRecording(), await startRecording()]
    await rejects(a, lost)
    const event = await record(b)
    await comesBack(a)
    await expectKept(b, event)
  })

  it('what another one acknowledges later stays', async () => {
    const [a, b] = [await startRecording(), await startRecording()]
    await rejects(a, lost)
    await comesBack(a)
    expect(await keptTails('test:keyed')).toEqual([])
    const event = await record(b)
    await comesBack(a)
    await expectKept(b, event)
  })

  it.each([
    { order: [0, 1], name: 'first' },
    { order: [1, 0], name: 'second' },
  ])(
    'nothing stays where both have rejected it, and the $name of them comes back first',
    async ({ order }) => {
      const processes = [await startRecording(), await startRecording()]
      await rejects(processes[0]!, lost)
      // What the other one finds is older than what it has recorded itself.
      await processes[1]!.audit.recordCustom('test:other')
      await rejects(processes[1]!, 'answer')
      expect(await keptTails('test:keyed')).toHaveLength(1)
      for (const i of order) await comesBack(processes[i]!)
      expect(await keptTails('test:keyed')).toEqual([])
    },
  )
})

/** Has appends wait one behind the other; each is there when the next one is begun. */
async function inOrder(...calls: (() => Promise<unknown>)[]): Promise<unknown[]> {
  const client = await database().pool.connect()
  const lock = namesIn(schema()).locks.order
  await client.query(`SELECT pg_advisory_lock(${lock})`)
  const begun: Promise<unknown>[] = []
  let ended = 0
  try {
    for (const call of calls) {
      begun.push(call().finally(() => ended++))
      for (let waiting = 0; waiting + ended < begun.length; await delay(5)) {
        const { rows } = await client.query<{ count: string }>(
          `SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
           WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`,
        )
        waiting = Number(rows[0]!.count)
      }
    }
  } finally {
    await client.query(`SELECT pg_advisory_unlock(${lock})`)
    client.release()
  }
  return Promise.all(begun)
}

it('what is removed while another process finds it is kept anew', async () => {
  const [a, b] = [await startRecording(), await startRecording()]
  await rejects(a, 'answer')
  const [, event] = await inOrder(
    () => comesBack(a),
    () => record(b),
  )
  await expectKept(b, event as AuditEvent)
})

it('what another process finds first is not removed', async () => {
  const [a, b] = [await startRecording(), await startRecording()]
  await rejects(a, 'answer')
  const [event] = await inOrder(
    () => record(b),
    () => comesBack(a),
  )
  await expectKept(b, event as AuditEvent)
})

it('what comes back from the journal is the event that another process has acknowledged', async () => {
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
  // It comes out of the journal behind the other.
  await a.audit.recordCustom('test:other')
  while ((await keptTails('test:other')).length === 0) await delay(10)
  await expectKept(b, event)
})

describe('the same draft', () => {
  const since = 0
  const append = (store: EventStore, one: EventDraft): Promise<readonly AuditEvent[]> =>
    store.append([one], { since })

  /** The process is cut off, and gives up. */
  async function loses(
    { store, proxy }: Process,
    one: EventDraft,
    lost: Lost = 'answer',
  ): Promise<void> {
    const giveUp = new AbortController()
    const isCutOff = proxy.breakAt(appendIn(), lost).then(() => giveUp.abort())
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

  it('is not removed by the process that has acknowledged it before', async () => {
    const a = await startStore()
    const one = draft({ n: 1 })
    const [event] = await append(a.store, one)
    await loses(a, one)
    // What this looks for goes back to before the first.
    await append(a.store, draft({ n: 2 }, { type: 'test:other' }))
    expect(await a.store.get(event!.id)).toEqual(event)
  })

  it('is not removed when the process that had lost it has sent it again', async () => {
    const [a, b] = [await startStore(), await startStore()]
    const one = draft({ n: 1 })
    await loses(a, one)
    const [event] = await append(a.store, one)
    await loses(b, one)
    for (const { store } of [a, b]) await store.append([draft({ n: 2 }, { type: 'test:other' })])
    expect(await a.store.get(event!.id)).toEqual(event)
    expect(await keptTails('test:event')).toEqual([one.tail])
  })

  /** Every mark is a day older then, and its time is over. */
  const letDayPass = (): Promise<unknown> =>
    database().pool.query(
      `UPDATE ${schema()}.append_claims SET claimed_at = claimed_at - interval '25 hours'`,
    )

  it.each(LOST)('is not removed where it was kept long ago, and the %s gets lost', async (lost) => {
    const [a, b] = [await startStore(), await startStore()]
    const one = draft({ n: 1 })
    const [event] = await append(a.store, one)
    await letDayPass()
    await loses(b, one, lost)
    await b.store.append([draft({ n: 2 }, { type: 'test:other' })])
    expect(await a.store.get(event!.id)).toEqual(event)
    expect(await marks()).not.toContain(one.tail)
  })

  const marks = async (): Promise<string[]> => {
    const { rows } = await database().pool.query<{ suffix: string }>(
      `SELECT suffix FROM ${schema()}.append_claims ORDER BY claimed_at`,
    )
    return rows.map(({ suffix }) => suffix)
  }

  it('leaves a mark for a day', async () => {
    const a = await startStore()
    const [one, two, three] = [draft({ n: 1 }), draft({ n: 2 }), draft({ n: 3 })]
    await append(a.store, one)
    await append(a.store, two)
    await a.store.append([draft({ n: 0 })])
    expect(await marks()).toEqual([one.tail, two.tail])
    await database().pool.query(
      `UPDATE ${schema()}.append_claims SET claimed_at = claimed_at - interval '25 hours' WHERE suffix = $1`,
      [one.tail],
    )
    await append(a.store, three)
    expect(await marks()).toEqual([two.tail, three.tail])
  })

  it('leaves no mark where it is held back', async () => {
    const a = await startStore()
    const [kept, heldBack] = [throttled({ n: 1 }), throttled({ n: 2 })]
    expect(await append(a.store, kept)).toHaveLength(1)
    expect(await append(a.store, heldBack)).toEqual([])
    expect(await marks()).toEqual([kept.tail])
  })
})
