import { AuditLog } from 'daybook'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { holdSync } from '../support/held-sync.js'

/*
 * A process whose disk does not finish a sync: `<file>`. Prints the error code of the call, and then continues until
 * it is killed.
 */
const [filename = ''] = process.argv.slice(2)
const disk = holdSync()
const { store } = createSqliteStore({ filename }, {}, { syncFile: disk.syncFile })
const audit: AuditLog = new AuditLog({ store, types: {}, waiting: { deadlineMs: 500 } })
audit.on('rejected', () => {})
await audit.recordCustom('test:kept')
// A real sync would keep the process alive.
setInterval(() => {}, 1000)
disk.hold()
const code = await audit.recordCustom('test:held').then(
  () => 'stored',
  (error: { readonly code: string }) => error.code,
)
process.stdout.write(`${code}\n`)
