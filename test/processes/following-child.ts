import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import pg from 'pg'

/*
 * A process that records until its time is over or it is killed: `<store> <name> <ms>`, where the
 * store is a Postgres URL or the name of an SQLite file. It records alone, in crowds, and in host
 * transactions of which a third are rolled back, with pauses between. A line on stdout for each event
 * that must be found, `kept <name>`, and for each that must not, `undone <name>`, once that is certain.
 */
const [store = '', name = '', ms = '0'] = process.argv.slice(2)
const isPostgres = store.startsWith('postgres')
const audit: AuditLog = new AuditLog({
  store: isPostgres ? postgresStore({ connectionString: store }) : sqliteStore({ filename: store }),
  types: {},
})
const end = performance.now() + Number(ms)
let count = 0

// To a pipe this is synchronous, so what was said has left the process when it is killed.
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const nextName = (): string => `${name}/${count++}`

async function recordOne(): Promise<void> {
  const event = nextName()
  await audit.recordCustom('test:following', { event })
  say(`kept ${JSON.stringify(event)}`)
}

const recordCrowd = (): Promise<unknown> =>
  Promise.all(Array.from({ length: Math.ceil(Math.random() * 50) }, recordOne))

interface Host {
  readonly handle: object
  run(command: 'BEGIN' | 'COMMIT' | 'ROLLBACK'): Promise<unknown>
}

async function openHost(): Promise<Host> {
  if (!isPostgres) {
    const handle = new Database(store, { timeout: 5000 })
    return { handle, run: async (command) => handle.exec(command) }
  }
  const handle = new pg.Client({ connectionString: store })
  handle.on('error', () => {})
  await handle.connect()
  return { handle, run: (command) => handle.query(command) }
}

const host = await openHost()

async function recordInTransaction(): Promise<void> {
  const events = Array.from({ length: Math.ceil(Math.random() * 5) }, nextName)
  const isUndone = Math.random() < 1 / 3
  await host.run('BEGIN')
  for (const event of events)
    await audit.recordCustom('test:following', { event }, { transaction: host.handle })
  // SQLite has one writer: there a transaction is short.
  if (isPostgres) await delay(Math.random() * 100)
  await host.run(isUndone ? 'ROLLBACK' : 'COMMIT')
  for (const event of events) say(`${isUndone ? 'undone' : 'kept'} ${JSON.stringify(event)}`)
}

const acts = [recordOne, recordCrowd, recordInTransaction]
say('ready')
while (performance.now() < end) {
  await acts[Math.floor(Math.random() * acts.length)]!()
  await delay(Math.random() * 20)
}
await audit.close()
process.exit(0)
