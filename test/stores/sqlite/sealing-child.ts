import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'

/*
 * A process that records, and seals a few events at a time, until it is killed, or `count` events:
 * `<file> <options>`. It tells when its first event is kept, and when it has recorded all.
 */
interface ChildOptions {
  readonly count?: number
  readonly leaseMs?: number
  /** How the process ends. */
  readonly end?: 'close' | 'exit' | 'stay'
}
const [filename = '', options = '{}'] = process.argv.slice(2)
const { count = Infinity, leaseMs = 10_000, end = 'close' } = JSON.parse(options) as ChildOptions

// Longer than any test waits: only what ends it on purpose ends the thread.
const idleMs = 600_000
const tuning = { segmentSize: 8, fanOut: 4 }
const { store } = createSqliteStore({ filename }, { tuning, leaseMs, idleMs })
const audit: AuditLog = new AuditLog({ store, types: {} })

for (let n = 0; n < count; n++) {
  await audit.recordCustom(`type-${n % 3}`, { n, text: 'x'.repeat(n % 200) })
  if (n === 0) process.stdout.write('recording\n')
  await delay(Math.random() * 2)
}
process.stdout.write('recorded\n')
if (end === 'close') await audit.close()
if (end === 'stay') setInterval(() => {}, 1000)
