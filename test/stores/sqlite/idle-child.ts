import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'

/* Opens a log, records and watches, and leaves it open: `<file>`. */
const [filename = ''] = process.argv.slice(2)
const store = sqliteStore({ filename })
const audit: AuditLog = new AuditLog({ store, types: {} })
store.watch(() => {})
const host = new Database(filename)
host.exec('BEGIN')
await audit.recordCustom('enlisted', {}, { transaction: host })
host.exec('COMMIT')
console.log('recorded')
