import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'

/*
 * A process that delivers to a file until it is killed: `<store> <file> <name>`, where the store is a Postgres URL or
 * the name of an SQLite file. Each delivery appends one line: the name of the process, and the numbers of the events.
 * After SIGUSR2 it blocks its event loop within its next delivery, until `<file>.<name>` exists.
 */
const [location = '', file = '', name = ''] = process.argv.slice(2)
const store = location.startsWith('postgres')
  ? postgresStore({ connectionString: location })
  : sqliteStore({ filename: location })
// Not by SIGSTOP: a process that is suspended within a transaction on SQLite stops all writers.
let mustBlock = false
process.on('SIGUSR2', () => (mustBlock = true))

const audit: AuditLog = new AuditLog({
  store,
  types: {},
  subscriptions: {
    channels: {
      file: {
        batch: { maxEvents: 5 },
        async deliver(events) {
          const numbers = events.map(({ attributes }) => attributes['n'])
          // One write of a short line is atomic, also beside other processes.
          fs.appendFileSync(file, `${JSON.stringify({ name, numbers })}\n`)
          if (mustBlock) {
            mustBlock = false
            const pause = new Int32Array(new SharedArrayBuffer(4))
            while (!fs.existsSync(`${file}.${name}`)) Atomics.wait(pause, 0, 0, 20)
          }
          await delay(2)
        },
      },
    },
    subscriptions: {
      numbers: { channel: 'file', filter: 'filter[type_eq]=test:number', from: 'beginning' },
    },
  },
})
process.stdout.write(`ready: ${audit.store.name}\n`)
