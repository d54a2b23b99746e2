import { AuditLog, type AuditEvent, AuditLogs, defineEventTypes, type EventStore } from 'daybook'
import { postgresLogs, postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { draft, numbersOf } from '../../../src/testing/conformance/helpers.js'
import { EXACTLY } from '../../support/exact-counts.js'
import { type OwnServer, startOwnPostgres } from '../../support/postgres.js'
import { oldEvent } from '../../support/imported-event.js'
import { ask, hostOf, untilRow } from '../../support/own-server.js'

/* A primary with two standbys. Each test leaves them running and replaying, except the last one. */

let primary: OwnServer
let standbys: OwnServer[]
const types = defineEventTypes({ live: { description: 'Something that takes time' } })

/** Writes as another process would. */
let other: AuditLog<typeof types>
const closing: (() => Promise<void>)[] = []

type Options = Partial<Extract<PostgresStoreOptions, { connectionString: string }>>

function openLog(options: Options = {}): AuditLog<typeof types> {
  const store = postgresStore({
    connectionString: primary.url,
    queryTimeoutMs: 60_000,
    ...options,
  })
  const audit = new AuditLog({ store, types, waiting: { deadlineMs: 60_000 } })
  closing.push(() => audit.close())
  return audit
}

const openReader = (options: Options = {}): AuditLog<typeof types> =>
  openLog({ replicas: standbys.map(({ url }) => url), ...options })

const onStandbys = async (text: string): Promise<void> => {
  for (const standby of standbys) await ask(standby, text)
}
const pause = (): Promise<void> => onStandbys('SELECT pg_wal_replay_pause()')
const resume = (): Promise<void> => onStandbys('SELECT pg_wal_replay_resume()')

/** Waits until the server has the event. */
const untilReplayed = (server: OwnServer, { id }: AuditEvent): Promise<void> =>
  untilRow(server, `SELECT FROM daybook.events WHERE '${id}' LIKE '%' || substr(suffix, 5)`)

let count = 0
const record = async (audit: AuditLog<typeof types>): Promise<AuditEvent> =>
  (await audit.recordCustom(`event ${(count += 1)}`))!

/** Both replicas get an event of `other`, and then stop replaying. */
async function pauseAfterEvent(): Promise<AuditEvent> {
  const event = await record(other)
  for (const standby of standbys) await untilReplayed(standby, event)
  await pause()
  return event
}

const has = async (
  audit: AuditLog<typeof types>,
  { id }: AuditEvent,
  consistencyToken?: string,
): Promise<boolean> => {
  const { events } = await audit.list({ limit: 1000 }, { consistencyToken })
  return events.some((event) => event.id === id)
}

beforeAll(async () => {
  primary = await startOwnPostgres()
  standbys = [await primary.replicate(), await primary.replicate()]
  other = openLog()
  closing.pop()
  await record(other)
  for (const standby of standbys)
    await untilRow(standby, `SELECT WHERE to_regclass('daybook.events') IS NOT NULL`)
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
afterAll(async () => {
  await other.close()
  for (const server of [...standbys, primary]) await server.stop()
})

it('a read with a token comes from a server that has the state of the token', async () => {
  const audit = openReader()
  await pauseAfterEvent()
  const event = await record(other)
  expect(await has(audit, event)).toBe(false)
  expect(await has(audit, event, event.created_at)).toBe(true)
  const token = event.created_at
  expect(await audit.get(event.id, { consistencyToken: token })).toEqual(event)
  const { total } = await audit.count({}, { ...EXACTLY, consistencyToken: token })
  expect((await audit.count({}, EXACTLY)).total).toBe(total - 1)
  for await (const page of audit.pages({}, { consistencyToken: token }))
    expect(page.at(-1)!.id).toBe(event.id)

  // One replica now has the event, but lacks the next one. So the other server must answer.
  await ask(standbys[1]!, 'SELECT pg_wal_replay_resume()')
  await untilReplayed(standbys[1]!, event)
  await ask(standbys[1]!, 'SELECT pg_wal_replay_pause()')
  const next = await record(other)
  const { events } = await audit.list({ limit: 1 }, { consistencyToken: token })
  expect(events).toEqual([event])
  expect(await has(audit, next, 'newest')).toBe(true)
  expect(await has(audit, next, next.created_at)).toBe(true)
  await resume()
})

it('a token of the log stands for imports and changes of live events too', async () => {
  const audit = openReader()
  const live = await other.recordLive('live', { n: 1 })
  await pauseAfterEvent()
  const imported = oldEvent().event
  await other.importEvents([imported])
  await live.update({ n: 2 })
  await live.flush()
  expect(await audit.get(imported.id)).toBe(undefined)
  expect((await audit.get(live.event!.id))!.attributes['n']).toBe(1)
  const consistencyToken = await other.consistencyToken()
  expect(await audit.get(imported.id, { consistencyToken })).toEqual(imported)
  expect((await audit.get(live.event!.id, { consistencyToken }))!.attributes['n']).toBe(2)
  // A position in another cluster compares with no position here.
  const elsewhere = consistencyToken.replace(/_\d+_.*/, '_1_0/1')
  expect(await audit.get(imported.id, { consistencyToken: elsewhere })).toEqual(imported)
  await resume()
  await live.close()
})

/** A pool to the first standby, for the rest of the test. */
function openReadPool(): pg.Pool {
  const readPool = new pg.Pool({ connectionString: standbys[0]!.url })
  readPool.on('error', () => {})
  closing.push(() => readPool.end())
  return readPool
}

it('a log never reads a state before the events that it has recorded and imported', async () => {
  const audit = openLog({ readPool: openReadPool() })
  await pauseAfterEvent()
  const unseen = await record(other)
  expect(await has(audit, unseen)).toBe(false)
  const own = await record(audit)
  expect(await has(audit, own)).toBe(true)
  expect(await audit.get(own.id)).toEqual(own)
  await resume()
  for (const standby of standbys) await untilReplayed(standby, own)
  await pause()
  const later = await record(other)
  expect(await has(audit, own)).toBe(true)
  expect(await has(audit, later)).toBe(false)
  const imported = oldEvent().event
  await audit.importEvents([imported])
  expect(await audit.get(imported.id)).toEqual(imported)
  await resume()
})

it('a replica is not read if it lacks a change of a live event of this process', async () => {
  const readPool = openReadPool()
  const [store, another] = [{ readPool }, {}].map((options): EventStore => {
    const store = postgresStore({ connectionString: primary.url, schema: 'live', ...options })
    closing.push(() => store.close())
    return store
  }) as [EventStore, EventStore]
  const numbers = async (): Promise<unknown[]> =>
    numbersOf((await store.list({ where: undefined, sorts: [], limit: 10 })).events)
  const grow = (revision: number, text: string) => ({
    revision,
    texts: [{ key: 'log', text, replaces: false }],
  })
  const [event] = await store.append([draft({ n: 1, log: '' }, { live: true })])
  const { id } = event!
  for (const standby of standbys) {
    await untilRow(standby, `SELECT WHERE to_regclass('live.live_events') IS NOT NULL`)
    await untilRow(standby, 'SELECT FROM live.live_events')
  }
  await pause()
  // The event of another process is missing. This shows that the replica answers.
  await another.append([draft({ n: 2 })])
  expect(await numbers()).toEqual([1])
  // After the primary has returned a revision, the replica must not return an older one.
  await another.changeLive(id, grow(1, 'some'))
  expect(await store.openEvents()).toEqual([{ id, revision: 0 }])
  const connecting = vi.spyOn(readPool, 'connect').mockImplementationOnce(() => {
    throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  })
  expect(await store.openEvents()).toEqual([{ id, revision: 1 }])
  expect(connecting).toHaveBeenCalled()
  connecting.mockRestore()
  expect((await store.get(id))!.attributes['log']).toBe('some')
  await store.changeLive(id, grow(2, 'more'))
  expect((await store.get(id))!.attributes['log']).toBe('somemore')
  expect(await numbers()).toEqual([1, 2])
  await store.closeLive(id, { revision: 3 })
  expect(await store.openEvents()).toEqual([])
  await resume()
})

it('a replica that is further behind than maxLag does not answer', async () => {
  const strict = openReader({ maxLag: { seconds: 0.2 } })
  const patient = openReader({ maxLag: { hours: 1 } })
  let event: AuditEvent
  for (;;) {
    await pauseAfterEvent()
    event = await record(other)
    // The primary answers until its position before they stopped is known.
    if (!(await has(patient, event))) break
    await resume()
  }
  while (!(await has(strict, event))) await delay(10)
  // The time for which they are skipped grows.
  for (;;) {
    expect(await has(strict, event)).toBe(true)
    const { replicas } = await strict.health()
    expect(replicas).toMatchObject({ status: 'warn', maxLagMs: 200 })
    if (replicas!.servers.every(({ skipped = '' }) => skipped.includes('maxLag'))) break
  }
  await resume()
})

it('a tail follows the primary while replicas lag, and begins after its token', async () => {
  const audit = openReader()
  const before = await pauseAfterEvent()
  await using tail = audit.tail({}, { after: before.created_at })
  const first = tail.next()
  const event = await record(other)
  expect((await first).value).toEqual(event)

  await using later = audit.tail({}, { consistencyToken: event.created_at })
  const next = later.next()
  await resume()
  // The tail may still be opening when the first ones are recorded.
  const following: AuditEvent[] = []
  let isFound = false
  const found = next.finally(() => (isFound = true))
  while (!isFound) {
    following.push(await record(other))
    await delay(20)
  }
  expect(following).toContainEqual((await found).value)
})

it('many logs read from the replicas of their cluster', async () => {
  const { url: connectionString } = primary
  const replicas = standbys.map(({ url }) => url)
  const [readers, writers] = [{ connectionString, replicas }, { connectionString }].map(
    (options): AuditLogs => {
      const logs = new AuditLogs({ stores: postgresLogs(options), types })
      closing.push(() => logs.close())
      return logs
    },
  )
  const typesIn = async (logs: AuditLogs) =>
    (await logs.list()).events.map(({ log, event }) => `${log} ${event.type}`)
  await writers!.log('acme').recordCustom('first')
  for (const standby of standbys)
    await untilRow(standby, 'SELECT FROM daybook_acme.events WHERE true')
  await pause()
  await writers!.log('acme').recordCustom('second')
  expect(await typesIn(readers!)).toEqual(['acme first'])
  await readers!.log('acme').recordCustom('own')
  expect(await typesIn(readers!)).toEqual(['acme first', 'acme second', 'acme own'])
  await resume()
  expect(() => postgresLogs({ connectionString, maxLag: { seconds: 1 } })).toThrow(
    'maxLag needs replicas',
  )
})

it('a replica that fails is skipped, and shown', async () => {
  const audit = openReader()
  const [first, second] = standbys as [OwnServer, OwnServer]
  const event = await pauseAfterEvent()
  const unseen = await record(other)
  const thaw = second.freeze()
  // The frozen replica is given up. Then the other replica answers alone.
  for (let reads = 0; reads < 4; reads++) expect(await has(audit, unseen)).toBe(false)
  thaw()
  await second.crash()
  for (let reads = 0; reads < 4; reads++) expect(await has(audit, event)).toBe(true)
  const lag = expect.toSatisfy((amount: number) => amount > 0)
  const paused = { reachable: true, replaying: false, lagBytes: lag, lagMs: lag }
  const away = { reachable: false, replaying: false, error: expect.stringMatching(/./) }
  // On a busy machine a replica may not answer in time.
  await expect
    .poll(() => audit.health())
    .toMatchObject({
      status: 'warn',
      replicas: {
        servers: [
          { name: hostOf(first), ...paused },
          { name: hostOf(second), ...away },
        ],
      },
    })
  await first.crash()
  // The primary answers.
  expect(await has(audit, unseen)).toBe(true)
  await first.start()
  await second.start()
  const caughtUp = { reachable: true, replaying: true, lagMs: 0 }
  await expect
    .poll(() => audit.health())
    .toMatchObject({ status: 'pass', replicas: { servers: [caughtUp, caughtUp] } })
})

it('tokens stay right after a failover', async () => {
  const [promoted, replica] = standbys as [OwnServer, OwnServer]
  const hosts = [primary, promoted].map(hostOf)
  const audit = openLog({ hosts, replicas: [replica.url] })
  const before = await record(audit)
  for (const standby of standbys) await untilReplayed(standby, before)
  const token = await audit.consistencyToken()
  await primary.crash()
  await promoted.promote()
  // The replica still follows the old timeline.
  const after = await record(audit)
  expect(await has(audit, before, token)).toBe(true)
  expect(await has(audit, after, after.created_at)).toBe(true)
  const future = '2100-01-01T00:00:00Z'
  await expect(audit.list({}, { consistencyToken: future })).rejects.toMatchObject({
    code: 'NOT_REACHED',
    message: expect.stringContaining('2100-01-01T00:00:00.000000Z'),
  })
})
