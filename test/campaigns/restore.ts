import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { AuditLog } from 'daybook'
import fc from 'fast-check'
import { createPostgresStore } from '../../adapters/postgres/postgres-store.js'
import { ask, targetOf } from '../support/own-server.js'
import { type OwnServer, startSystemPostgres, systemBinaries } from '../support/postgres.js'
import { type Proxy, startProxy } from '../support/proxy.js'
import type { Campaign } from './run.js'
import { runRounds } from './shared/rounds.js'

/*
 * A log is dumped and restored on a server with other transaction ids, and its host name then points to that server.
 * Processes that have read the log run during the whole time. Then they record, import, and change live events. Lists
 * with filters and sorts must find exactly the events of the table. The campaign uses the system's pg_dump.
 */

export interface RestoreRound {
  readonly events: number
  /** Number of transactions of the old server in addition to those of the log. */
  readonly age: number
  /** Imported events before and after the move. */
  readonly imported: readonly [before: number, after: number]
  readonly liveEvents: number
}

export const restoreRounds: fc.Arbitrary<RestoreRound> = fc.record({
  events: fc.integer({ min: 0, max: 120 }),
  age: fc.integer({ min: 0, max: 2000 }),
  imported: fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 20 })),
  liveEvents: fc.integer({ min: 0, max: 3 }),
})

/** Small segments, and no probe before the index is used. */
const SEALING = { tuning: { segmentSize: 16, fanOut: 3 } }
const PAST = Date.parse('2025-03-01T00:00:00Z')

const importedEvent = (n: number) => ({
  id: randomUUID(),
  created_at: new Date(PAST + n * 1000).toISOString().replace('Z', '000Z'),
  username: null,
  system: true,
  type: 'own',
  source: null,
  attributes: { n },
})

/** Opens stores that act like a separate process. */
function openProcess(proxy: Proxy, schema: string) {
  const connectionString = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`
  const { store, sealer } = createPostgresStore(
    { connectionString, schema, partitions: 'none' },
    SEALING,
    { firstProbe: 0 },
  )
  return { audit: new AuditLog({ store, types: { 'test:live': {} } }), sealer }
}

const QUERIES = [
  'filter[n_gteq]=0',
  'filter[n_gteq]=0&filter[sorts]=n',
  'filter[n_present]=true&filter[sorts]=created_at',
] as const

/** Throws unless filtered lists find the events of the table. */
async function checkFound(audit: AuditLog, server: OwnServer, schema: string): Promise<number> {
  const rows = await ask(
    server,
    `SELECT (attributes->>'n')::int AS n FROM "${schema}".events WHERE attributes->>'n' IS NOT NULL
     UNION ALL SELECT (attributes->>'n')::int FROM "${schema}".live_events`,
  )
  const byNumber = (a: number, b: number): number => a - b
  const expected = rows.map(({ n }) => Number(n)).toSorted(byNumber)
  for (const query of QUERIES) {
    const { events } = await audit.list(`${query}&limit=1000`)
    const found = events.map(({ attributes }) => Number(attributes['n'])).toSorted(byNumber)
    if (found.join() !== expected.join())
      throw new Error(`${query} finds ${found.length} of ${expected.length} events`)
  }
  for (const n of [expected[0], expected.at(-1)]) {
    const { events } = await audit.list(`filter[n_eq]=${String(n)}`)
    if (events.length !== 1) throw new Error(`n_eq=${String(n)} finds ${events.length} events`)
  }
  return expected.length
}

/** Copies the schema of the log from one server to another. */
export type CopyLog = (from: OwnServer, to: OwnServer, schema: string) => Promise<void>

/** Returns the number of events. Throws if lists do not find all of them. */
export async function runRestoreRound(
  { events, age, imported, liveEvents }: RestoreRound,
  [old, fresh]: readonly [OwnServer, OwnServer],
  schema: string,
  copy: CopyLog,
): Promise<number> {
  const proxy = await startProxy(targetOf(old))
  const processes = [openProcess(proxy, schema), openProcess(proxy, schema)]
  const [{ audit, sealer }, other] = processes as [(typeof processes)[0], (typeof processes)[0]]
  let next = 1000
  const record = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await audit.recordCustom('own', { n: next++ })
  }
  const check = async (server: OwnServer): Promise<number> => {
    await checkFound(other.audit, server, schema)
    return checkFound(audit, server, schema)
  }
  try {
    await record(1)
    if (age > 0)
      await ask(
        old,
        `DO $$ BEGIN FOR i IN 1..${age} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`,
      )
    await record(events)
    const live = await Promise.all(
      Array.from({ length: liveEvents }, () => audit.recordLive('test:live', { n: next++ })),
    )
    await audit.importEvents(Array.from({ length: imported[0] }, (_, n) => importedEvent(n)))
    await sealer.settled()
    await check(old)
    // Closing a live event makes it a late event.
    await live.pop()?.close()
    await check(old)
    await copy(old, fresh, schema)
    proxy.moveTo(targetOf(fresh))
    await check(fresh)
    await audit.importEvents(Array.from({ length: imported[1] }, (_, n) => importedEvent(100 + n)))
    await check(fresh)
    await live.pop()?.close()
    await record(40)
    await check(fresh)
    await sealer.settled()
    for (const one of live) await one.close()
    return await check(fresh)
  } finally {
    for (const one of processes) await one.audit.close()
    await proxy.close()
  }
}

const copyByDump: CopyLog = async (from, to, schema) => {
  const folder = path.dirname(systemBinaries()!.postgres)
  const dump = path.join(folder, 'pg_dump')
  const run = (command: string, args: readonly string[], input?: string): string => {
    const { status, stdout, stderr, error } = spawnSync(command, args, {
      input,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    })
    if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`)
    return stdout
  }
  const sql = run(dump, ['--dbname', from.url, '--schema', schema])
  const flags = ['--quiet', '--set', 'ON_ERROR_STOP=1', '--output', '/dev/null']
  run(path.join(folder, 'psql'), ['--dbname', to.url, ...flags], sql)
}

export const campaign: Campaign = {
  rounds: 100,
  async run(run) {
    const figures = { done: 0, events: 0 }
    const old = await startSystemPostgres()
    figures.done = await runRounds(run, restoreRounds, figures, async (round, number) => {
      // The transaction ids of this server begin again.
      const fresh = await startSystemPostgres()
      try {
        figures.events += await runRestoreRound(round, [old, fresh], `round_${number}`, copyByDump)
      } finally {
        await fresh.stop()
      }
    })
    await old.stop()
    return figures
  },
}
