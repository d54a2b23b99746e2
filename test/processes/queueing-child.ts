import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { sqliteJournal } from 'daybook/sqlite'
import { faultyStore } from 'daybook/testing'
import { openStore } from '../support/open-store.js'

/*
 * A process that records with the policy `queue` until it is killed: `<store> <journal> <life>`, where
 * the store is a Postgres URL or the name of an SQLite file. An SQLite store fails at random; for
 * Postgres the test makes the server fail. Prints `stored <n>` or `journalled <n>` for each settled call.
 */
const [location = '', filename = '', life = ''] = process.argv.slice(2)
const isPostgres = location.startsWith('postgres')
const store = faultyStore(openStore(location))
const audit: AuditLog = new AuditLog({
  store,
  journal: sqliteJournal({ filename }),
  types: {},
  failurePolicy: 'queue',
  waiting: { deadlineMs: 150 },
})
let n = 0

// Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** True if the event is stored, and not in the journal. */
async function recordOne(): Promise<boolean> {
  const own = n++
  const event = await audit.recordCustom('test:queued', { life, n: own })
  say(`${event ? 'stored' : 'journalled'} ${own}`)
  return event !== undefined
}

const faults = [
  () => store.fail('append', 1 + Math.floor(Math.random() * 5)),
  () => store.hang('append'),
  () => store.delay('append', Math.random() * 200, 3),
  () => store.loseAcknowledgement('append'),
]

async function injectFaults(): Promise<void> {
  for (let times = Math.ceil(Math.random() * 3); times > 0; times--) {
    await delay(Math.random() * 150)
    faults[Math.floor(Math.random() * faults.length)]!()
    await delay(Math.random() * 250)
    store.heal()
  }
  // From now on the store stores the events of the journal, but its answers are lost.
  store.fail('append', 1)
  store.loseAcknowledgement('append')
  say('losing answers')
}

// A slow machine would journal all events of a full load.
if (life === '0') while (!(await recordOne())) await delay(50)
if (!isPostgres) void injectFaults()
for (;;) {
  await Promise.all(Array.from({ length: Math.ceil(Math.random() * 20) }, recordOne))
  await delay(Math.random() * 10)
}
