import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { ask, untilRow } from '../support/own-server.js'
import { type PgBouncer, type PoolMode, startPgBouncer } from '../support/pgbouncer.js'
import { type OwnServer, startOwnPostgres } from '../support/postgres.js'

let server: OwnServer
const bouncers = new Map<PoolMode, PgBouncer>()
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  server = await startOwnPostgres()
  for (const mode of ['session', 'transaction', 'statement'] as const)
    bouncers.set(mode, await startPgBouncer(server.url, mode))
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  vi.restoreAllMocks()
})
afterAll(async () => {
  for (const bouncer of bouncers.values()) await bouncer.stop()
  await server.stop()
})

const urlOf = (mode: PoolMode): string => bouncers.get(mode)!.url

function openLog(connectionString: string, listenConnectionString?: string): AuditLog {
  const listen = listenConnectionString === undefined ? {} : { listenConnectionString }
  const store = postgresStore({ connectionString, ...listen })
  const audit = new AuditLog({ store, types: {}, waiting: { deadlineMs: 5000 } })
  audit.on('rejected', () => {})
  closing.push(() => audit.close())
  return audit
}

/** Returns a row for each connection that listens. PgBouncer keeps connections that have listened. */
const LISTENERS = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'`

/** A tail gets the event that another process records. */
async function followed(audit: AuditLog): Promise<void> {
  const other = openLog(server.url)
  const before = await other.recordCustom('before')
  await using tail = audit.tail({}, { after: before!.created_at })
  const next = tail.next()
  const event = await other.recordCustom('followed')
  const { value } = await next
  expect(value).toEqual(event)
}

it('in transaction mode, LISTEN needs listenConnectionString; without it the log reports this, and polls', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const audit = openLog(urlOf('transaction'))
  await audit.recordCustom('a')
  const said = [expect.stringMatching(/pooler in transaction mode.*set listenConnectionString/)]
  expect(warn.mock.calls.map(([text]) => text)).toEqual(said)
  const { store } = await audit.health()
  expect(store).toMatchObject({ status: 'warn', warnings: said })
  await followed(audit)
  expect(await ask(server, LISTENERS)).toEqual([])
  expect(await audit.store.analyze!()).toEqual({
    analyzed_tables: [],
    skipped_reason: expect.stringContaining('listenConnectionString'),
  })
})

it('in transaction mode with listenConnectionString, the log listens on the server itself', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const audit = openLog(urlOf('transaction'), server.url)
  await followed(audit)
  const tail = audit.tail()
  const next = tail.next()
  await untilRow(server, LISTENERS)
  await tail.return()
  await next
  const { analyzed_tables } = await audit.store.analyze!()
  expect(analyzed_tables).toBeInstanceOf(Array)
  expect((await audit.health()).store.status).toBe('pass')
  expect(warn).not.toHaveBeenCalled()
})

it('old events are removed in transaction mode, with and without listenConnectionString', async () => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  for (const listen of [undefined, server.url]) {
    const audit = openLog(urlOf('transaction'), listen)
    for (let n = 0; n < 3; n++) await audit.recordCustom('old')
    const { total } = await audit.count()
    expect(await audit.store.removeBefore(Date.now() * 2000)).toBe(total)
    expect((await audit.count()).total).toBe(0)
  }
})

it('listenConnectionString that leads through such a pooler is reported', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const audit = openLog(server.url, urlOf('transaction'))
  await audit.recordCustom('a')
  await audit.store.analyze!()
  expect((await audit.health()).store.warnings).toEqual([
    expect.stringContaining('listenConnectionString leads through a pooler'),
  ])
  await followed(audit)
  expect(warn).not.toHaveBeenCalled()
})

it('in session mode everything works', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const audit = openLog(urlOf('session'))
  await followed(audit)
  const { store } = await audit.health()
  expect(store.status).toBe('pass')
  expect(warn).not.toHaveBeenCalled()
})

it('statement mode is refused', async () => {
  const audit = openLog(urlOf('statement'))
  await expect(audit.list()).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('pool_mode = transaction or session'),
  })
})

it.each(['transaction', 'session'] as const)(
  'in %s mode, a statement of an aborted call is cancelled at the server',
  async (mode) => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const audit = openLog(urlOf(mode))
    await audit.recordCustom('a')
    const holder = openLog(server.url)
    await holder.list()
    const lock = 'daybook.events'
    const abort = new AbortController()
    const blocker = new pg.Client({ connectionString: server.url })
    await blocker.connect()
    await blocker.query(`BEGIN; LOCK TABLE ${lock} IN ACCESS EXCLUSIVE MODE`)
    const reading = audit.list({}, { signal: abort.signal })
    const WAITING = `SELECT FROM pg_locks WHERE NOT granted AND relation = '${lock}'::regclass`
    await untilRow(server, WAITING)
    abort.abort()
    await expect(reading).rejects.toMatchObject({ code: 'ABORTED' })
    await untilRow(server, `SELECT WHERE NOT EXISTS (${WAITING})`)
    await blocker.query('ROLLBACK')
    await blocker.end()
    expect((await audit.list()).events.length).toBeGreaterThan(0)
  },
)
