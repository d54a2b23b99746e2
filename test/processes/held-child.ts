import { AuditLog } from 'daybook'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { heldWriterThread, type Hold, holdCommits } from '../support/held-writer.js'

/*
 * A process whose disk does not finish a commit: `<file> <before or after>`. Prints the code with which the call
 * rejects, and then continues until it is killed.
 */
const [filename = '', how = ''] = process.argv.slice(2)
const { store, startWriter } = createSqliteStore(
  { filename },
  {},
  { writerThreadFile: heldWriterThread },
)
await startWriter()
const audit: AuditLog = new AuditLog({ store, types: {}, waiting: { deadlineMs: 500 } })
audit.on('rejected', () => {})
await audit.recordCustom('test:kept')
const commit = holdCommits(filename, how as Hold)
const recording = audit.recordCustom('test:held')
await commit.until()
process.stdout.write(
  `${await recording.then(
    () => 'stored',
    ({ code }: { readonly code: string }) => code,
  )}\n`,
)
setInterval(() => {}, 1000)
