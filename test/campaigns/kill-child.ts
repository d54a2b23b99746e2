import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type PrivacyOptions } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { openKeys } from '../support/erasing.js'

/*
 * Records in several lanes until it is killed: `<Postgres URL or SQLite file> <file of keys> <life> <calls to repeat>`. Prints
 * `begin <lane> <key>` before each call, and `kept <lane> <key> <id> <created_at>` once it is acknowledged.
 */

const LANES = 4
const MAX_PAUSE_MS = 40

/** A text that proves that an event belongs to the key. */
export const checkOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** The checks are personal, so that they are stored encrypted. */
export const privacyOf = (keys: string): PrivacyOptions => ({
  keys: openKeys(keys),
  custom: (type) =>
    type === 'test:killed'
      ? [{ subject: { kind: 'lane', from: 'lane' }, attributes: ['check'] }]
      : [],
})

/** The data of the call with this key: `<life>:<lane>:<number>`. */
export const dataOf = (key: string) => ({ key, check: checkOf(key), lane: key.split(':')[1]! })

// Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
const say = (...words: readonly unknown[]): void =>
  void process.stdout.write(`${words.join(' ')}\n`)

async function main([location, keysFile, life, repeated]: readonly string[]): Promise<void> {
  const store = location!.startsWith('postgres')
    ? postgresStore({ connectionString: location! })
    : sqliteStore({ filename: location! })
  const privacy = privacyOf(keysFile!)
  const waiting = { deadlineMs: 60_000 }
  const audit: AuditLog = new AuditLog({ store, types: {}, privacy, waiting })

  const record = async (lane: number, key: string): Promise<void> => {
    say('begin', lane, key)
    const event = await audit.recordCustom('test:killed', dataOf(key), { idempotencyKey: key })
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
