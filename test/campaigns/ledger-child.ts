import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog, AuditLogError, type AuditLogOptions, formatTimestamp } from 'daybook'
import { keyFile } from 'daybook/ledger'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import pg from 'pg'
import { DAY } from '../../src/event/timestamp.js'

/*
 * Records, imports, removes, seals and verifies until it is killed: `<Postgres URL or SQLite file> <key file> <archive> <origin> <clock
 * ahead, in microseconds>`. Prints `head <note>`, `finding <what>`, `began` after each verification, and `problem <code>`.
 */

const MAX_PAUSE_MS = 60
const [location = '', key = '', archive = '', origin = '', ahead = ''] = process.argv.slice(2)
const isPostgres = location.startsWith('postgres')

// Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
const say = (word: string, value: unknown): void =>
  void process.stdout.write(`${word} ${JSON.stringify(value)}\n`)

const now = (): number => Date.now() * 1000 + Number(ahead)
const store = isPostgres
  ? postgresStore({ connectionString: location, partitions: 'day', clock: now })
  : sqliteStore({ filename: location, clock: now })

const options: AuditLogOptions<Record<string, object>> = {
  store,
  types: { 'test:live': {}, 'test:throttled': { throttle: { period: { seconds: 1 } } } },
  ledger: { origin, signer: keyFile(key) },
}
const audit = new AuditLog({
  ...options,
  cleaning: {
    rules: [
      { name: 'odd', target: 'events', maxRows: 200, filter: 'filter[odd_eq]=1' },
      {
        name: 'announced',
        target: 'events',
        maxRows: 3,
        filter: 'filter[type_eq]=info:audit_log:import',
      },
      { name: 'old', target: 'events', maxAge: { days: 3 }, archive },
    ],
    holds: [{ filter: 'filter[n_eq]=7' }],
    scheduled: false,
  },
})
const hurried = new AuditLog({
  ...options,
  store: { ...store, close: async () => undefined },
  ledger: undefined,
  waiting: { deadlineMs: 20 },
})

const problem = (error: unknown): void =>
  say('problem', error instanceof AuditLogError ? error.code : String(error))

/** Repeats the work with pauses. An error is a problem of this round only. */
async function repeat(act: (n: number) => Promise<unknown>, pauseMs = MAX_PAUSE_MS): Promise<void> {
  for (let n = 0; ; n++) {
    await act(n).catch(problem)
    await delay(Math.random() * pauseMs)
  }
}

const imported = () => ({
  id: randomUUID(),
  created_at: formatTimestamp(Math.floor(now() - (0.5 + 9 * Math.random()) * DAY)),
  username: null,
  system: false,
  type: 'test:imported',
  source: null,
  attributes: { n: Math.floor(20 * Math.random()) },
})

/** Records in a transaction of the host, which is rolled back every other time. */
async function inTransaction(n: number): Promise<void> {
  if (isPostgres) {
    const client = new pg.Client({ connectionString: location })
    await client.connect()
    await client.query('BEGIN')
    await audit.recordCustom('test:enlisted', { n }, { transaction: client })
    await client.query(n % 2 === 0 ? 'COMMIT' : 'ROLLBACK')
    await client.end()
    return
  }
  const database = new Database(location)
  try {
    database.exec('BEGIN IMMEDIATE')
    await audit.recordCustom('test:enlisted', { n }, { transaction: database })
    database.exec(n % 2 === 0 ? 'COMMIT' : 'ROLLBACK')
  } finally {
    database.close()
  }
}

async function verify(): Promise<void> {
  const head = await audit.ledger.checkpoint().catch(async (error: unknown) => {
    const status = await audit.ledger.status()
    if (status.state === 'diverged') say('finding', { state: status.state, error: status.error })
    throw error
  })
  say('head', head)
  const { result, findings } = await audit.ledger.verify({ heads: [head] })
  if (result !== 'intact' || findings.length > 0) say('finding', { result, findings })
  const { state, error } = await audit.ledger.status()
  if (state === 'diverged') say('finding', { state, error })
  say('began', true)
}

async function live(n: number): Promise<void> {
  const event = await audit.recordLive('test:live', { n, text: 'some' })
  await delay(Math.random() * 200)
  await event.append('text', ' more')
  await event.close()
}

await audit.recordCustom('test:first')
await Promise.all([
  repeat((n) => audit.recordCustom('test:event', { n, odd: n % 2 })),
  repeat((n) =>
    audit.recordCustom('test:keyed', { n: n % 50 }, { idempotencyKey: `key-${n % 50}` }),
  ),
  repeat((n) => hurried.recordCustom('test:hurried', { n, odd: 1 })),
  repeat((n) => audit.record('test:throttled', { n })),
  repeat(() => audit.importEvents([imported(), imported()]), 300),
  repeat(live),
  repeat(inTransaction, 300),
  repeat(() => audit.cleaning.run(), 500),
  repeat(verify, 300),
])
