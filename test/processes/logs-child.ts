import { AuditLogs } from 'daybook'
import { postgresLogs } from 'daybook/postgres'
import { sqliteLogs } from 'daybook/sqlite'

/*
 * A process that records in several logs at once until it is killed: `<place> <name> <keys>`, where the place is a
 * Postgres URL or a folder, and the keys are separated by commas. The logs are not all open at the same time. Prints
 * `kept <key> <event>` for each acknowledged event.
 */
const [place = '', name = '', keys = ''] = process.argv.slice(2)
const stores = place.startsWith('postgres')
  ? postgresLogs({ connectionString: place })
  : sqliteLogs({ directory: place })
const logs: AuditLogs = new AuditLogs({ stores, types: {}, maxOpen: 2, idleMs: 100 })

let count = 0

async function record(key: string): Promise<void> {
  for (;;) {
    const event = `${name}/${count++}`
    await logs.log(key).recordCustom('test:logs', { event })
    // Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
    process.stdout.write(`kept ${key} ${event}\n`)
  }
}

await Promise.all(keys.split(',').map(record))
