import fs from 'node:fs'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'

/*
 * A host that records an event in each of its transactions until it is killed: `<file> <name>`. Prints a line for
 * each transaction: `c` for committed, `r` for rolled back.
 */
const [filename = '', name = ''] = process.argv.slice(2)
const host = new Database(filename)
const audit: AuditLog = new AuditLog({ store: sqliteStore({ database: host }), types: {} })
const insert = host.prepare('INSERT INTO orders VALUES (?, ?)')

for (let n = 0; ; n++) {
  host.exec(Math.random() < 0.5 ? 'BEGIN' : 'BEGIN IMMEDIATE')
  insert.run(name, n)
  await audit.recordCustom('order', { name, n }, { transaction: host })
  if (Math.random() < 0.2) await nextTurn()
  const commits = Math.random() < 0.7
  host.exec(commits ? 'COMMIT' : 'ROLLBACK')
  fs.writeSync(1, commits ? 'c\n' : 'r\n')
  if (Math.random() < 0.1) await audit.recordCustom('plain', { name, n })
  // SQLite has no queue for locks. Without a pause the other process would never get the lock.
  await delay(Math.random() * 4)
}
