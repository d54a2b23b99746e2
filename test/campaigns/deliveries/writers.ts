import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import pg from 'pg'
import { openStore } from '../../support/open-store.js'
import { TYPE } from './log.js'

/*
 * Four logs on one store that record until stdin is closed: `<Postgres URL or SQLite file>`. Each log records every
 * fourth event in a transaction that commits, and every fourth event in a transaction that is rolled back. Prints
 * `kept <key>` for an event that is certainly stored, and `undone <key>` after a rollback.
 */

const WRITERS = 4
const PAUSE_MS = 40
/** Longest wait of a transaction for the lock of SQLite. */
const LOCK_MS = 1000

const [location = ''] = process.argv.slice(2)
let isOver = false
process.stdin.on('end', () => (isOver = true)).resume()

const say = (word: 'kept' | 'undone', key: string): void =>
  void process.stdout.write(`${word} ${key}\n`)

/** Runs `record` in a new transaction, and ends the transaction. */
type InTransaction = (
  record: (transaction: object) => Promise<unknown>,
  end: 'COMMIT' | 'ROLLBACK',
) => Promise<void>

async function openTransactions(): Promise<{ run: InTransaction; close: () => unknown }> {
  if (!location.startsWith('postgres')) {
    const database = new Database(location, { timeout: LOCK_MS })
    return {
      async run(record, end) {
        database.exec('BEGIN IMMEDIATE')
        const recorded = record(database)
        recorded.catch(() => {})
        database.exec(end)
        await recorded
      },
      close: () => database.close(),
    }
  }
  const client = new pg.Client({ connectionString: location })
  await client.connect()
  return {
    async run(record, end) {
      await client.query('BEGIN')
      try {
        await record(client)
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      }
      await client.query(end)
    },
    close: () => client.end(),
  }
}

async function write(number: number): Promise<void> {
  const audit: AuditLog = new AuditLog({ store: openStore(location), types: {} })
  // Creates the tables that a transaction needs.
  await audit.recordCustom('test:begin')
  const transactions = await openTransactions()
  for (let n = 0; !isOver; n++) {
    const key = `${number}-${n}`
    const record = (options = {}): Promise<unknown> => audit.recordCustom(TYPE, { key }, options)
    const inTransaction = (end: 'COMMIT' | 'ROLLBACK'): Promise<void> =>
      transactions.run((transaction) => record({ transaction }), end)
    try {
      if (n % 4 === 3) {
        await inTransaction('ROLLBACK')
        say('undone', key)
      } else {
        await (n % 4 === 2 ? inTransaction('COMMIT') : record())
        say('kept', key)
      }
    } catch {
      // A suspended process may hold the lock for longer than the deadline. Then only the log shows whether the event
      // is stored.
    }
    await delay(Math.random() * 2 * PAUSE_MS)
  }
  await transactions.close()
  await audit.close()
}

await Promise.all(Array.from({ length: WRITERS }, (_, number) => write(number)))
