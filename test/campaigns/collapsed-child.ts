import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { recordRequests } from 'daybook/fetch'
import { openStore } from '../support/open-store.js'

/*
 * Makes calls that are counted until it is killed, or until its standard input ends, when it closes its log: `<Postgres URL or SQLite
 * file> <life> <address>`. Prints `made <time> <kind> <calls so far>` after each turn, and `begin` some time after its start.
 */

export const KINDS = ['read', 'refusal', 'tick'] as const
export type Kind = (typeof KINDS)[number]

const KEYS = 20
const MAX_BEGIN_MS = 2500

// Writing to a pipe is synchronous: a printed line is not lost when the process is killed.
const say = (...words: readonly unknown[]): void => void writeSync(1, `${words.join(' ')}\n`)

async function main([location = '', life = '', address = '']: readonly string[]): Promise<void> {
  const store = openStore(location)
  const audit: AuditLog = new AuditLog({ store, types: {}, waiting: { deadlineMs: 60_000 } })
  const refuse = recordRequests(audit, { address: () => address })(
    async () => new Response('wrong', { status: 401 }),
  )
  const calls: Readonly<Record<Kind, (n: number) => Promise<unknown>>> = {
    read: (n) => audit.read(`/api/${life}/${n % KEYS}`, { username: `user${n % 7}` }),
    refusal(n) {
      const authorization = `Basic ${btoa(`user${n}:wrong`)}`
      return refuse(new Request('http://service.test/api', { headers: { authorization } }))
    },
    tick: () =>
      audit.recordSystem(
        'info:tick',
        { life },
        { collapse: { by: ['life'], window: { seconds: 1 } } },
      ),
  }
  const made: Record<Kind, number> = { read: 0, refusal: 0, tick: 0 }
  const begin = performance.now() + Math.random() * MAX_BEGIN_MS
  let isOver = false
  let hasBegun = false
  process.stdin.on('end', () => (isOver = true)).resume()
  while (!isOver) {
    for (const kind of KINDS) {
      const size = Math.ceil(Math.random() * 30)
      await Promise.all(Array.from({ length: size }, (_, i) => calls[kind](made[kind] + i)))
      made[kind] += size
      say('made', Date.now(), kind, made[kind])
    }
    if (!hasBegun && performance.now() > begin) {
      say('begin')
      hasBegun = true
    }
    await delay(Math.random() * 20)
  }
  await audit.close()
}

if (process.argv[1]?.includes('collapsed-child')) await main(process.argv.slice(2))
