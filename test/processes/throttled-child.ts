import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { CONDITION, throttledTypes } from './throttled-types.js'

/*
 * A process that raises one throttled condition, now and then many times at once, until it has made
 * its calls or is killed: `<store> <seconds of a period> <calls>`, where the store is a Postgres URL or the name of
 * an SQLite file. On stdout `made <count>` before it makes so many calls; for each that is settled `kept` or `held`
 * with the milliseconds of its begin and end; and `reported <count>` for each report that the store has.
 */
const [location = '', seconds = '1', count = '0'] = process.argv.slice(2)

// To a pipe this is synchronous, so what was said has left the process when it is killed.
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const store: EventStore = location.startsWith('postgres')
  ? postgresStore({ connectionString: location })
  : sqliteStore({ filename: location })

const audit = new AuditLog({
  store: {
    ...store,
    async reportSuppressed(report, options) {
      await store.reportSuppressed(report, options)
      say(`reported ${report.counts.reduce((sum, one) => sum + one.count, 0)}`)
    },
  },
  types: throttledTypes,
  throttles: { [CONDITION]: { seconds: Number(seconds) } },
})

async function raise(): Promise<void> {
  const begin = Date.now()
  const event = await audit.record(CONDITION)
  say(`${event ? 'kept' : 'held'} ${begin} ${Date.now()}`)
}

for (let left = Number(count); left > 0;) {
  const crowd = Math.min(left, Math.ceil(Math.random() * 20))
  left -= crowd
  say(`made ${crowd}`)
  await Promise.all(Array.from({ length: crowd }, raise))
  await delay(Math.random() * 50)
}
await audit.close()
