import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import pg from 'pg'
import { openStore } from '../support/open-store.js'

/*
 * A process that records for a time, or until it is killed: `<store> <name> <ms>`, where the store is a Postgres URL
 * or the name of an SQLite file. It records single events, many events at once, and events in host transactions, with
 * pauses in between. It rolls back a third of the transactions. Prints `kept <name>` for each event that readers must
 * find, and `undone <name>` for each event that they must not find, once the outcome is certain.
 */
const [store = '', name = '', ms = '0'] = process.argv.slice(2)
const isPostgres = store.startsWith('postgres')
const audit: AuditLog = new AuditLog({
  store: openStore(store),
  types: {},
})
let count = 0

// Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const nextName = (): string => `${name}/${count++}`

async function recordOne(): Promise<void> {
  const event = nextName()
  await audit.recordCustom('test:following', { event })
  say(`kept ${JSON.stringify(event)}`)
}

const recordMany = (): Promise<unknown> =>
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
  // SQLite has one writer, so its transactions are short.
  if (isPostgres) await delay(Math.random() * 100)
  await host.run(isUndone ? 'ROLLBACK' : 'COMMIT')
  for (const event of events) say(`${isUndone ? 'undone' : 'kept'} ${JSON.stringify(event)}`)
}

const actions = [recordOne, recordMany, recordInTransaction]
say('ready')
// Since then, so that a process that starts slowly records events too.
const end = performance.now() + Number(ms)
while (performance.now() < end) {
  await actions[Math.floor(Math.random() * actions.length)]!()
  await delay(Math.random() * 20)
}
await audit.close()
process.exit(0)
