import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'

/*
 * Records in several lanes until it is killed: `<Postgres URL or SQLite file> <life> <keys to repeat>`. Prints
 * `begin <lane> <key>` before each call, and `kept <lane> <key> <id> <created_at>` once it is acknowledged.
 */

const LANES = 4
const MAX_PAUSE_MS = 40

/** Proves that the event is the one of the key. */
export const checkOf = (key: string): string => createHash('sha256').update(key).digest('hex')

// Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
const say = (...words: readonly unknown[]): void =>
  void process.stdout.write(`${words.join(' ')}\n`)

/** The writer thread of every second life runs from the beginning; that of the others starts while they record. */
async function openSqlite(filename: string, life: string): Promise<EventStore> {
  const { store, startWriter } = createSqliteStore({ filename })
  const starting = startWriter()
  if (Number(life.split('-')[1]) % 2 === 0) await starting
  return store
}

async function main([location, life, repeated]: readonly string[]): Promise<void> {
  const store = location!.startsWith('postgres')
    ? postgresStore({ connectionString: location! })
    : await openSqlite(location!, life!)
  const audit: AuditLog = new AuditLog({ store, types: {}, waiting: { deadlineMs: 60_000 } })

  const record = async (lane: number, key: string): Promise<void> => {
    say('begin', lane, key)
    const data = { key, check: checkOf(key) }
    const event = await audit.recordCustom('test:killed', data, { idempotencyKey: key })
    say('kept', lane, key, event!.id, event!.created_at)
  }
  const keys = JSON.parse(repeated!) as string[]
  const run = async (lane: number): Promise<void> => {
    for (let key = keys.pop(); key; key = keys.pop()) await record(lane, key)
    for (let n = 0; ; n++) {
      await record(lane, `${life}:${lane}:${n}`)
      await delay(Math.random() * MAX_PAUSE_MS)
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, lane) => run(lane)))
}

if (process.argv[1]?.includes('kill-child')) await main(process.argv.slice(2))
