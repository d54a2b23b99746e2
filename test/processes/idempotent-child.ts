import { AuditLog, type EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'

/*
 * A process that records one event with an idempotency key, and stops before or after the append. It can be killed
 * there. Arguments: `<place> <store> <schema>`, where the store is a Postgres URL or the name of an SQLite file.
 * Prints `stopped`.
 */
const [place = '', location = '', schema = ''] = process.argv.slice(2)
const store = location.startsWith('postgres')
  ? postgresStore({ connectionString: location, schema })
  : sqliteStore({ filename: location })

/** Keeps the process alive without going on. */
const stop = (): Promise<never> => {
  process.stdout.write('stopped\n')
  return new Promise(() => setInterval(() => {}, 1000))
}

let isAppended = false
const stopping: EventStore = {
  ...store,
  async append(drafts, options) {
    if (place === 'before the append') return stop()
    const events = await store.append(drafts, options)
    isAppended = true
    return events
  },
  updateState: (key, change, options) =>
    isAppended ? stop() : store.updateState(key, change, options),
}
const audit: AuditLog = new AuditLog({ store: stopping, types: {} })
const options = { username: 'ann', idempotencyKey: 'k' }
await audit.recordCustom('test:once', { n: 1 }, options)
