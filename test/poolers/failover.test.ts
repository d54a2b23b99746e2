import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { afterEach, expect, it, vi } from 'vitest'
import { ask, untilRow } from '../support/own-server.js'
import { type PgBouncer, type PoolMode, startPgBouncer } from '../support/pgbouncer.js'
import { type OwnServer, startOwnPostgres } from '../support/postgres.js'
import { startProxy } from '../support/proxy.js'

/* The standby takes over while a log records, is read and is followed through poolers. */

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  vi.restoreAllMocks()
})

interface Cluster {
  readonly primary: OwnServer
  readonly standby: OwnServer
}

/** A primary with a synchronous standby. */
async function startCluster(): Promise<Cluster> {
  const primary = await startOwnPostgres(['synchronous_commit=on'])
  closing.push(() => primary.stop())
  const standby = await primary.replicate()
  closing.push(() => standby.stop())
  await ask(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await ask(primary, 'SELECT pg_reload_conf()')
  await untilRow(primary, `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)
  return { primary, standby }
}

interface Addresses {
  readonly connectionString: string
  readonly listenConnectionString: string
  /** Switches the addresses to the standby, unless they already lead to it. */
  switch(): void
}

async function startPooler(url: string, mode: PoolMode): Promise<PgBouncer> {
  const pooler = await startPgBouncer(url, mode, ['server_login_retry = 0'])
  closing.push(() => pooler.stop())
  return pooler
}

const hostOf = (url: string): string => new URL(url).host

/** Starts one pooler for each server. The store gets the addresses of all poolers, and those of the servers for LISTEN. */
async function poolerOfEach({ primary, standby }: Cluster, mode: PoolMode): Promise<Addresses> {
  const poolers = [await startPooler(primary.url, mode), await startPooler(standby.url, mode)]
  const naming = (urls: readonly string[]): string =>
    `postgres://postgres@${urls.map(hostOf).join()}/postgres`
  return {
    connectionString: naming(poolers.map(({ url }) => url)),
    listenConnectionString: naming([primary.url, standby.url]),
    switch() {},
  }
}

/** Starts one pooler for an address that leads to the primary, like that of HAProxy. */
async function oneAddress({ primary, standby }: Cluster, mode: PoolMode): Promise<Addresses> {
  const targetOf = ({ url }: OwnServer) => ({
    host: new URL(url).hostname,
    port: Number(new URL(url).port),
  })
  const address = await startProxy(targetOf(primary))
  closing.push(() => address.close())
  const direct = new URL(primary.url)
  direct.port = String(address.port)
  const { url } = await startPooler(direct.href, mode)
  return {
    connectionString: url,
    listenConnectionString: direct.href,
    switch: () => address.moveTo(targetOf(standby)),
  }
}

it.each([
  ['transaction', 'a pooler in front of each server', poolerOfEach],
  ['session', 'a pooler in front of each server', poolerOfEach],
  ['transaction', 'one pooler, whose address moves', oneAddress],
  ['session', 'one pooler whose address is switched', oneAddress],
] as const)(
  'in %s mode a failover loses nothing with %s',
  { timeout: 120_000 },
  async (mode, _, start) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const cluster = await startCluster()
    const { switch: switchAddresses, ...addresses } = await start(cluster, mode)
    const openLog = (): AuditLog => {
      const audit = new AuditLog({
        store: postgresStore({ ...addresses, queryTimeoutMs: 60_000 }),
        types: {},
        waiting: { deadlineMs: 60_000 },
      })
      closing.push(() => audit.close())
      return audit
    }
    const [writer, follower] = [openLog(), openLog()]
    const first = await writer.recordCustom('test:pooled')
    const followed = [first!.id]
    const leaving = new AbortController()
    const following = (async () => {
      const options = { after: first!.created_at, signal: leaving.signal }
      for await (const { id } of follower.tail('', options)) followed.push(id)
    })().catch(() => {})

    const acknowledged = [first!.id]
    let isOver = false
    const lane = async (): Promise<void> => {
      while (!isOver) {
        acknowledged.push((await writer.recordCustom('test:pooled'))!.id)
        await delay(5)
      }
    }
    const lanes = [lane(), lane()]
    const untilMore = async (count: number): Promise<void> => {
      const before = acknowledged.length
      while (acknowledged.length < before + count) await delay(10)
    }
    await untilMore(20)
    await cluster.primary.crash()
    await cluster.standby.promote()
    switchAddresses()
    expect((await follower.count()).total).toBeGreaterThan(20)
    await untilMore(20)
    isOver = true
    await Promise.all(lanes)
    const last = await writer.recordCustom('test:pooled')
    acknowledged.push(last!.id)
    while (followed.at(-1) !== last!.id) await delay(10)
    leaving.abort()
    await following

    const rows = await ask(cluster.standby, 'SELECT FROM daybook.events')
    expect(rows).toHaveLength(acknowledged.length)
    expect(followed).toHaveLength(acknowledged.length)
    expect(followed.toSorted()).toEqual(acknowledged.toSorted())
    expect(warn).not.toHaveBeenCalled()
    expect((await writer.health()).store.status).toBe('pass')
  },
)
