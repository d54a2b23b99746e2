import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'

/*
 * Records in several lanes until it is killed: `<Postgres URL or SQLite file> <life> <keys to repeat>`. Prints
 * `begin <lane> <key>` before each call, and `kept <lane> <key> <id> <created_at>` once it is acknowledged.
 */

const LANES = 4
const MAX_PAUSE_MS = 40

/** A text that proves that an event belongs to the key. */
export const checkOf = (key: string): string => createHash('sha256').update(key).digest('hex')

// Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
const say = (...words: readonly unknown[]): void =>
  void process.stdout.write(`${words.join(' ')}\n`)

async function main([location, life, repeated]: readonly string[]): Promise<void> {
  const store = location!.startsWith('postgres')
    ? postgresStore({ connectionString: location! })
    : sqliteStore({ filename: location! })
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
