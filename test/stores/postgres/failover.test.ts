import { setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog, type AuditLogError } from 'daybook'
import { postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../cli/run-cli.js'
import { type OwnServer, startOwnPostgres } from '../../support/postgres.js'
import { ask, hostOf, portOf, targetOf, untilCaughtUp, untilRow } from '../../support/own-server.js'
import { startProxy } from '../../support/proxy.js'
import { shiftClock } from '../../support/shifted-clock.js'

/*
 * Processes that know both servers. The primary fails, its standby is promoted, and the old primary comes back. The
 * role has only the privileges that the log needs. The clock of the standby is an hour ahead.
 */

let primary: OwnServer
let standby: OwnServer
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  primary = await startOwnPostgres()
  standby = await primary.replicate()
  await ask(primary, 'CREATE ROLE app LOGIN; GRANT CREATE ON DATABASE postgres TO app')
  const admin = new pg.Client({ connectionString: primary.url })
  await admin.connect()
  await shiftClock(
    admin,
    `CASE inet_server_port() WHEN ${portOf(standby)} THEN interval '1 hour' ELSE '0' END`,
  )
  await admin.end()
  await untilCaughtUp(standby, primary)
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
afterAll(async () => {
  await standby.stop()
  await primary.stop()
})

const LISTENING = `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`

const BOTH = (): string => `postgres://app@${hostOf(standby)},${hostOf(primary)}/postgres`

interface LogOptions {
  readonly deadlineMs?: number
  readonly queryTimeoutMs?: number
}

function openLog(
  place: string | pg.Pool,
  { deadlineMs = 60_000, queryTimeoutMs = 60_000 }: LogOptions = {},
): AuditLog {
  const server: PostgresStoreOptions =
    typeof place === 'string' ? { connectionString: place } : { pool: place }
  const audit = new AuditLog({
    store: postgresStore({ ...server, queryTimeoutMs }),
    types: {},
    waiting: { deadlineMs },
  })
  audit.on('rejected', () => {})
  closing.push(() => audit.close())
  return audit
}

const numbersOn = async (server: OwnServer): Promise<unknown[]> =>
  (
    await ask(
      server,
      `SELECT attributes->'n' AS n FROM daybook.events WHERE type = 'own' ORDER BY created_at`,
    )
  ).map(({ n }) => n)

/** Resolves once the call is refused because of the server's timeline. */
async function untilRefused(call: () => Promise<unknown>, code: string): Promise<void> {
  for (;;) {
    const error = await call().then(
      () => expect.unreachable('it was not refused'),
      (thrown: AuditLogError) => thrown,
    )
    // A call may end before a server has answered it.
    if (!/timeline 1, but a standby has taken over with timeline 2/.test(error.message)) continue
    expect(error).toMatchObject({ code })
    return
  }
}

it(
  'continues on the standby that takes over, and refuses the old primary',
  { timeout: 180_000 },
  async () => {
    const audit = openLog(BOTH())
    await audit.recordCustom('own', { n: 0 })
    expect(await numbersOn(primary)).toEqual([0])
    const hints: unknown[] = []
    const store = postgresStore({ connectionString: BOTH() })
    closing.push(() => store.close())
    await store.openEvents()
    closing.push(async () => unwatch())
    const unwatch = store.watch(() => hints.push(1))
    await untilRow(primary, LISTENING)
    await untilCaughtUp(standby, primary)

    await primary.crash()
    const recorded = audit.recordCustom('own', { n: 1 })
    const listed = audit.list('filter[type_eq]=own')
    await standby.promote()
    await recorded
    expect((await listed).events).toContainEqual(expect.objectContaining({ attributes: { n: 0 } }))
    await untilRow(standby, LISTENING)
    expect(await numbersOn(standby)).toEqual([0, 1])

    const proxy = await startProxy(targetOf(standby))
    closing.push(() => proxy.close())
    const moved = openLog(`postgres://app@127.0.0.1:${proxy.port}/postgres`, {
      deadlineMs: 500,
      queryTimeoutMs: 500,
    })
    const both = openLog(BOTH(), { deadlineMs: 500, queryTimeoutMs: 500 })
    const eventually = async (log: AuditLog, n: number): Promise<void> => {
      while (!(await log.recordCustom('own', { n }).catch(() => undefined)));
    }
    await eventually(moved, 2)
    await eventually(both, 3)

    // The old primary comes back, and takes writes.
    await primary.start()
    proxy.moveTo(targetOf(primary))
    await untilRefused(() => moved.recordCustom('own', { n: 4 }), 'DEADLINE_EXCEEDED')
    await untilRefused(() => moved.list(), 'STORE_FAILED')
    await expect
      .poll(() => moved.health())
      .toMatchObject({
        status: 'fail',
        store: { error: { message: expect.stringContaining('timeline 1') } },
      })
    // A new process finds both servers, and uses the server with the higher timeline.
    const late = openLog(`postgres://app@${hostOf(primary)},${hostOf(standby)}/postgres`)
    await late.recordCustom('own', { n: 5 })
    expect(await numbersOn(standby)).toEqual([0, 1, 2, 3, 5])

    const printed = await runCli(['count', BOTH(), '--filter', 'n_eq=5'])
    expect(printed).toMatchObject({ exit: 0, stdout: '1\n', stderr: '' })

    await standby.crash()
    await untilRefused(() => both.recordCustom('own', { n: 6 }), 'DEADLINE_EXCEEDED')
    await standby.start()
    await eventually(both, 7)
    expect(await numbersOn(standby)).toEqual([0, 1, 2, 3, 5, 7])
    expect(await numbersOn(primary)).toEqual([0])
  },
)

it('leaves a primary that does not answer', async () => {
  const third = await standby.replicate()
  closing.push(() => third.stop())
  const proxy = await startProxy(targetOf(standby))
  closing.push(() => proxy.close())
  const byName = `postgres://app@127.0.0.1:${proxy.port}/postgres`
  const pool = new pg.Pool({ connectionString: byName, connectionTimeoutMillis: 2000 })
  pool.on('error', () => {})
  closing.push(() => pool.end())
  const hosts = `postgres://app@${hostOf(standby)},${hostOf(third)}/postgres`
  const logs = [hosts, byName, pool].map((place) => openLog(place))
  const followed: AuditEvent[] = []
  const leaving = new AbortController()
  closing.push(async () => leaving.abort())
  const following = (async () => {
    const tail = logs[0]!.tail('filter[type_eq]=own', {
      after: '2000-01-01',
      signal: leaving.signal,
    })
    for await (const event of tail) followed.push(event)
  })().catch(() => {})
  const recordAll = (from: number) =>
    Promise.all(logs.map((audit, i) => audit.recordCustom('own', { n: from + i })))
  await recordAll(10)
  await Promise.all(logs.map((audit) => audit.list()))
  await untilRow(standby, LISTENING)
  await untilCaughtUp(third, standby)

  const goOn = standby.freeze()
  closing.push(async () => goOn())
  const recorded = recordAll(20)
  const listed = Promise.all(logs.map((audit) => audit.list('filter[n_lt]=20&limit=100')))
  await third.promote()
  proxy.redirect(targetOf(third))
  await recorded
  for (const { events } of await listed)
    expect(events.filter(({ type }) => type === 'own')).toHaveLength(9)
  await untilRow(third, LISTENING)

  // The old primary goes on, and takes nothing more.
  goOn()
  await recordAll(30)
  const numbers = await numbersOn(third)
  expect(numbers.slice(0, 6)).toEqual([0, 1, 2, 3, 5, 7])
  expect(new Set(numbers)).toEqual(new Set([0, 1, 2, 3, 5, 7, 10, 11, 12, 20, 21, 22, 30, 31, 32]))
  expect(numbers).toHaveLength(15)
  while (followed.length < numbers.length) await delay(10)
  leaving.abort()
  await following
  expect(followed.map(({ attributes }) => attributes['n'])).toEqual(numbers)
  expect(await numbersOn(standby)).not.toContain(30)
})

it('says for each host why it does not accept writes', async () => {
  const name = 'postgres://app@127.0.0.1:1,127.0.0.1:2/postgres'
  const audit = openLog(name, { queryTimeoutMs: 100 })
  await expect(audit.list()).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringMatching(
      /no server accepts writes: 127.0.0.1:1: .*ECONNREFUSED.*; 127.0.0.1:2: .*ECONNREFUSED/,
    ),
  })
})
