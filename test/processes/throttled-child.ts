import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { CONDITION, throttledTypes } from './throttled-types.js'
import { openStore } from '../support/open-store.js'

/*
 * A process that records one throttled type, sometimes in many concurrent calls, until it has made all calls or is
 * killed: `<store> <seconds of a period> <calls>`, where the store is a Postgres URL or the name of an SQLite file.
 * Prints `made <count>` before `<count>` calls; `kept` or `held` for each settled call, with the milliseconds of its
 * start and end; and `reported <count>` for each stored report.
 */
const [location = '', seconds = '1', count = '0'] = process.argv.slice(2)

// Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const store = openStore(location)

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
