import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type EventStore } from 'daybook'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'

/*
 * A process that records `count` events, or until it is killed, and seals a few at a time: `<place> <options>`, both
 * JSON. Prints a line after the first event and after the last one.
 */

/** The place of the events. */
export type Place =
  | { readonly filename: string }
  | { readonly connectionString: string; readonly schema: string }

export interface ChildOptions {
  readonly count?: number
  readonly leaseMs?: number
  /** Compression of an SQLite file. */
  readonly compression?: 'none' | 'deflate'
  /** The end of the process. */
  readonly end?: 'close' | 'exit' | 'stay'
}

const tuning = { segmentSize: 8, fanOut: 4 }

function openStore(
  place: Place,
  { leaseMs = 10_000, compression = 'none' }: ChildOptions,
): EventStore {
  if ('filename' in place) {
    // The thread ends only when the test ends it.
    const idleMs = 600_000
    return createSqliteStore({ ...place, compression }, { tuning, leaseMs, idleMs }).store
  }
  return createPostgresStore({ ...place, partitions: 'none' }, { tuning, leaseMs, checkMs: 20 })
    .store
}

const [place, options] = process.argv.slice(2).map((text): unknown => JSON.parse(text))
const given = options as ChildOptions
const { count = Infinity, end = 'close' } = given
const audit: AuditLog = new AuditLog({
  store: openStore(place as Place, given),
  types: {},
  // The process may be suspended for a long time.
  waiting: { deadlineMs: 3_600_000 },
})

for (let n = 0; n < count; n++) {
  await audit.recordCustom(`type-${n % 3}`, { n, text: 'x'.repeat(n % 200) })
  if (n === 0) process.stdout.write('recording\n')
  await delay(Math.random() * 2)
}
process.stdout.write('recorded\n')
if (end === 'close') await audit.close()
if (end === 'stay') setInterval(() => {}, 1000)
