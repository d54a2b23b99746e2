import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'

/*
 * A process of `npm run test:ha`: `<writer or follower> <name> <connection string> <filter>`. Ends when its standard input ends.
 * A writer prints `kept <lane> <key> <id> <created_at>` for each event that is acknowledged, and `rejected <lane> <key> <code>`. A
 * follower prints `got <id> <created_at> <key>`.
 */

const LANES = 2
const MAX_PAUSE_MS = 60
export const TYPE = 'test:failover'

// Writing to a pipe is synchronous.
const say = (...words: readonly unknown[]): void =>
  void process.stdout.write(`${words.join(' ')}\n`)

async function main([role, name, connectionString, filter]: readonly string[]): Promise<void> {
  const leaving = new AbortController()
  process.stdin.resume().once('end', () => leaving.abort())
  const audit: AuditLog = new AuditLog({
    store: postgresStore({ connectionString: connectionString!, queryTimeoutMs: 60_000 }),
    types: {},
    waiting: { deadlineMs: 60_000 },
  })

  const write = async (lane: number): Promise<void> => {
    for (let n = 0; !leaving.signal.aborted; n++) {
      const key = `${name}:${lane}:${n}`
      try {
        const event = await audit.recordCustom(TYPE, { key })
        say('kept', lane, key, event!.id, event!.created_at)
      } catch (error) {
        say('rejected', lane, key, (error as { code: string }).code)
      }
      await delay(Math.random() * MAX_PAUSE_MS)
    }
  }
  const follow = async (): Promise<void> => {
    const tail = audit.tail(filter, { after: '2000-01-01', signal: leaving.signal })
    for await (const { id, created_at, attributes } of tail)
      say('got', id, created_at, attributes['key'])
  }
  const work =
    role === 'writer' ? Array.from({ length: LANES }, (_, lane) => write(lane)) : [follow()]
  await Promise.all(work).catch((error: { code: string }) => {
    if (error.code !== 'ABORTED') throw error
  })
  await audit.close()
}

if (process.argv[1]?.includes('ha/child')) await main(process.argv.slice(2))
