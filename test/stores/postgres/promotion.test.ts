import { setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog } from 'daybook'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import type { EventStore } from '../../../src/store/store.js'
import { DEADLINE_MS } from '../../support/deadlines.js'
import { ledgerKey, ORIGIN } from '../../support/ledger-key.js'
import { ask, targetOf, untilCaughtUp, untilRow } from '../../support/own-server.js'
import { type OwnServer, startOwnPostgres } from '../../support/postgres.js'
import { takeWarnings } from '../../support/warnings.js'
import { serve } from '../../support/http.js'
import { openStream } from '../../support/server-sent.js'
import { type Proxy, startProxy } from '../../support/proxy.js'

/*
 * A standby takes over while processes run. They reach the servers through a proxy, as through a host name whose
 * address changes.
 */

/** Small segments, and no probe before the index is used. */
const SEALING = { tuning: { segmentSize: 8, fanOut: 3 }, checkMs: 60_000 }

const servers: OwnServer[] = []
let proxy: Proxy
const closing: (() => unknown)[] = []

beforeAll(async () => {
  servers.push(await startOwnPostgres())
  proxy = await startProxy(targetOf(servers[0]!))
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
afterAll(async () => {
  await proxy.close()
  for (const server of servers.toReversed()) await server.stop()
})

/** Adds a standby to the current server. */
async function addStandby(): Promise<[primary: OwnServer, standby: OwnServer]> {
  const primary = servers.at(-1)!
  const standby = await primary.replicate()
  servers.push(standby)
  return [primary, standby]
}

async function failOver(primary: OwnServer, standby: OwnServer): Promise<void> {
  await primary.crash()
  await standby.promote()
  proxy.moveTo(targetOf(standby))
}

/** A store that represents a process, and reaches the servers through the proxy. */
const openProcess = (schema: string, clock?: () => number) => {
  const connectionString = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`
  const { store, sealer } = createPostgresStore(
    { connectionString, schema, ...(clock && { clock }) },
    SEALING,
    { firstProbe: 0 },
  )
  return { store, sealer }
}

function openLog(store: EventStore): AuditLog {
  const audit = new AuditLog({ store, types: {}, waiting: { deadlineMs: DEADLINE_MS } })
  closing.push(() => audit.close())
  return audit
}

async function record(audit: AuditLog, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) await audit.recordCustom('own', { n })
}

const found = async (audit: AuditLog, query: string): Promise<unknown[]> =>
  (await audit.list(`${query}&limit=1000`)).events.map(({ attributes }) => attributes['n'])

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i)

it('finds the events of the server that took over, although others were lost', async () => {
  const [primary, standby] = await addStandby()
  const warnings = takeWarnings()
  // The clock of the new server is behind.
  let behind = 0
  const clock = () => (Date.now() - behind) * 1000
  const { store, sealer } = openProcess('lossy', clock)
  const audit = openLog(store)
  await record(audit, 0, 10)
  const followed: unknown[] = []
  const leaving = new AbortController()
  const following = (async () => {
    const options = { after: '2000-01-01', signal: leaving.signal }
    for await (const { attributes } of audit.tail('filter[n_gteq]=0', options))
      followed.push(attributes['n'])
  })().catch(() => {})
  const untilFollowed = async (n: number): Promise<void> => {
    while (followed.at(-1) !== n) await delay(10)
  }
  await untilCaughtUp(standby, primary)
  await standby.crash()
  await record(audit, 10, 21)
  await sealer.settled()
  await record(audit, 21, 24)
  expect(await found(audit, 'filter[n_gteq]=0')).toEqual(range(0, 24))
  await untilFollowed(23)
  await primary.crash()
  await standby.start()
  await standby.promote()
  proxy.moveTo(targetOf(standby))

  behind = 3_600_000
  const kept = await ask(standby, 'SELECT FROM lossy.events')
  expect(kept).toHaveLength(10)
  const expected = range(0, 10)
  const agree = async (): Promise<void> => {
    expect(await found(audit, 'filter[n_gteq]=0')).toEqual(expected)
    expect(await found(audit, 'filter[n_gteq]=0&filter[sorts]=n')).toEqual(expected)
  }
  await agree()
  const lost = expect.stringMatching(/^acknowledged events are lost: one of \S+ was acknowledged/)
  expect(await audit.health({ timeoutMs: 60_000 })).toMatchObject({
    status: 'warn',
    store: { status: 'warn', warnings: [lost] },
  })
  expect(warnings).toEqual([lost])
  // Segments and versions get numbers that the old server has used, too.
  for (let n = 100; n < 130; n += 10) {
    await record(audit, n, n + 10)
    expected.push(...range(n, n + 10))
    await agree()
    await sealer.settled()
    await agree()
  }
  // The follower goes back to the last event that both servers have.
  await untilFollowed(129)
  leaving.abort()
  await following
  expect(followed).toEqual([...range(0, 24), ...range(100, 130)])
})

it('a ledger does not go on after the server that took over has lost sealed events', async () => {
  const [primary, standby] = await addStandby()
  const key = await ledgerKey()
  closing.push(key.remove)
  const ledger = { origin: ORIGIN, signer: key.signer }
  const audit = new AuditLog({ store: openProcess('sealed').store, types: {}, ledger })
  closing.push(() => audit.close())
  await record(audit, 0, 5)
  await audit.ledger.checkpoint()
  await untilCaughtUp(standby, primary)
  await standby.crash()
  await record(audit, 5, 10)
  const head = await audit.ledger.checkpoint()
  await primary.crash()
  await standby.start()
  await standby.promote()
  proxy.moveTo(targetOf(standby))
  await record(audit, 10, 20)
  await expect(audit.ledger.checkpoint()).rejects.toMatchObject({ code: 'LEDGER_DIVERGED' })
  expect(await audit.ledger.status()).toMatchObject({ state: 'diverged', size: 6 })
  const verified = await audit.ledger.verify({ heads: [head] })
  expect(verified).toMatchObject({
    result: 'tampered',
    findings: [{ kind: 'cut', leaves: [6, 10] }],
  })
})

it('followers get each acknowledged event once, in order, from the server that took over', async () => {
  const [primary, standby] = await addStandby()
  await ask(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await ask(primary, 'SELECT pg_reload_conf()')
  await untilRow(primary, `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)
  const recorder = openLog(openProcess('followed').store)
  await record(recorder, 0, 10)

  const process = openProcess('followed')
  const server = await serve({ store: process.store })
  closing.push(() => server.close())
  const after = '2000-01-01'
  const isDone = ({ attributes }: AuditEvent): boolean => attributes['n'] === -1
  const follow = async (query: string): Promise<AuditEvent[]> => {
    const events: AuditEvent[] = []
    for await (const event of server.audit.tail(query, { after })) {
      events.push(event)
      if (isDone(event)) break
    }
    return events
  }
  const followers = [follow(''), follow('filter[n_gteq]=-1'), follow('filter[n_present]=true')]
  const stream = await openStream(`${server.url}/api/events/stream?filter[n_gteq]=-1`, {
    'last-event-id': after,
  })
  closing.push(() => stream.leave())
  const sent = await stream.take(10)

  const acknowledged: AuditEvent[] = []
  let isOver = false
  closing.push(() => (isOver = true))
  const recording = async (worker: number): Promise<void> => {
    for (let n = 1; !isOver; n++) {
      const event = await recorder.recordCustom('own', { n: worker * 1_000_000 + n })
      acknowledged.push(event!)
    }
  }
  const workers = [1, 2, 3].map(recording)
  const untilMore = async (): Promise<void> => {
    const count = acknowledged.length + 30
    while (acknowledged.length < count) await delay(5)
  }
  await untilMore()
  await ask(standby, `ALTER SYSTEM SET synchronous_standby_names = ''`)
  await failOver(primary, standby)
  await untilMore()
  isOver = true
  await Promise.all(workers)
  await recorder.recordCustom('own', { n: -1 })

  const stored = (await recorder.list('limit=10000')).events
  const ids = stored.map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining(acknowledged.map(({ id }) => id)))
  for (const events of await Promise.all(followers)) expect(events.map(({ id }) => id)).toEqual(ids)
  sent.push(...(await stream.take(stored.length - 10)))
  expect(sent.map(({ lastEventId }) => lastEventId)).toEqual(
    stored.map((event) => event.created_at),
  )
})
