import { AuditLog } from 'daybook'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'

/* Starts the writer thread, records some events, and leaves the log open: `<file> <count>`. */
const [filename = '', count = ''] = process.argv.slice(2)
const { store, startWriter } = createSqliteStore({ filename })
await startWriter()
const audit: AuditLog = new AuditLog({ store, types: {} })
for (let n = 0; n < Number(count); n++) await audit.recordCustom('test:threaded', { n })
console.log('recorded')
