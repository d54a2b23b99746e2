import { AuditLogs, type LogEvent, type LogStores } from 'daybook'
import { postgresLogs } from 'daybook/postgres'
import { sqliteLogs } from 'daybook/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { runScript } from '../support/child.js'
import { postgresDatabase } from '../support/database.js'
import { soakRounds, soakTimeout } from '../support/soak.js'
import { tempDir } from '../support/temp.js'

const KEYS = ['a', 'b', 'c', 'd']
const KEPT = 30

interface Place {
  readonly name: string
  open(): LogStores
}

async function sqlitePlace(): Promise<Place> {
  const temp = tempDir()
  onTestFinished(temp.remove)
  return { name: temp.dir, open: () => sqliteLogs({ directory: temp.dir }) }
}

async function postgresPlace(): Promise<Place> {
  const database = await postgresDatabase()
  onTestFinished(() => database.remove())
  const { url } = database
  return { name: url, open: () => postgresLogs({ connectionString: url }) }
}

const textOf = ({ log, event }: LogEvent): string => `${log} ${event.attributes['event'] as string}`

/**
 * Records until enough events are acknowledged and the tail has events, then kills the process. Returns the
 * acknowledged events.
 */
async function recordAndKill(place: Place, name: string): Promise<readonly string[]> {
  const child = runScript('test/processes/logs-child.ts', [place.name, name, KEYS.join()])
  onTestFinished(() => child.kill())
  for (const key of KEYS) await child.saw(`kept ${key} `)
  await child.saw(`/${KEPT}\n`)
  await child.kill()
  return Array.from(child.stdout().matchAll(/^kept (.*)\n/gm), ([, kept]) => kept!)
}

async function killWhileRecording(create: () => Promise<Place>): Promise<void> {
  const place = await create()
  const logs: AuditLogs = new AuditLogs({ stores: place.open(), types: {} })
  onTestFinished(() => logs.close())
  for (const key of KEYS) await logs.log(key).recordCustom('test:start')
  const query = 'filter[type_eq]=test:logs'
  const first = logs.tail(query, { logs: KEYS, cursor: await logs.cursor() })
  const killed = recordAndKill(place, 'killed')
  // The first event arrives while the process records; the tail ends here, and another one continues.
  const followed = [textOf((await first.next()).value!)]
  const kept = await killed
  const { cursor } = first
  await first.return()
  const readAll = async (): Promise<string[]> => {
    const stored: string[] = []
    for await (const page of logs.pages(`${query}&filter[s]=created_at asc`))
      stored.push(...page.map(textOf))
    return stored
  }
  const stored = await readAll()
  expect(stored).toEqual(expect.arrayContaining([...kept]))
  const tail = logs.tail(query, { logs: KEYS, cursor: cursor! })
  while (!stored.every((text) => followed.includes(text)))
    followed.push(textOf((await tail.next()).value!))
  await tail.return()
  expect(new Set(followed).size).toBe(followed.length)
  // The server may have run the last statement of the process after it was killed.
  const all = await readAll()
  expect(new Set(all).size).toBe(all.length)
  expect(all).toEqual(expect.arrayContaining(followed))
}

it.each([
  ['SQLite', sqlitePlace],
  ['Postgres', postgresPlace],
])(
  'a process that records in several logs on %s is killed: no acknowledged event is lost, and a tail misses none',
  { timeout: soakTimeout(180_000) },
  async (_name, create) => {
    for (const _ of soakRounds(1)) await killWhileRecording(create)
  },
)
