import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog, type EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteJournal, sqliteStore } from 'daybook/sqlite'
import { expect, it } from 'vitest'
import { type Child, linesOf, runScript } from '../support/child.js'
import { startOwnPostgres } from '../support/postgres.js'
import { SOAK_SECONDS, soakRounds, soakTimeout } from '../support/soak.js'
import { tempDir } from '../support/temp.js'
import { allEvents } from '../support/reported-losses.js'

/*
 * A process with the policy `queue` is killed during its work, while its store fails, and restarted on the same
 * files.
 */
const LIVES = 2

interface Place {
  readonly location: string
  readonly journal: string
  openStore(): EventStore
  /** Makes the store fail while the process runs. */
  trouble(child: Child, life: number): Promise<void>
}

const numbersBehind = (child: Child, word: string): number[] =>
  linesOf(child, `${word} `).map(Number)

async function live(place: Place, life: number): Promise<Child> {
  const { location, journal } = place
  const child = runScript('test/processes/queueing-child.ts', [location, journal, String(life)])
  try {
    await child.saw(life === 0 ? 'stored ' : '\n')
    await place.trouble(child, life)
    if (life === 0) await child.saw('journalled ')
    await delay(Math.random() * 300)
    expect(child.process.exitCode, child.stderr()).toBe(null)
  } finally {
    await child.kill()
  }
  return child
}

/** The stored numbers of each life, in order, once the journal is empty. */
async function found(place: Place): Promise<Map<string, number[]>> {
  const journal = sqliteJournal({ filename: place.journal })
  await using audit: AuditLog = new AuditLog({
    store: place.openStore(),
    journal,
    types: {},
    failurePolicy: 'queue',
  })
  while (journal.length > 0) await delay(20)
  const numbers = new Map<string, number[]>()
  for (const { type, attributes } of await allEvents(audit)) {
    if (type !== 'test:queued') continue
    const life = attributes['life'] as string
    numbers.set(life, [...(numbers.get(life) ?? []), attributes['n'] as number])
  }
  return numbers
}

async function killAgainAndAgain(place: Place): Promise<void> {
  // The deadline of the processes is too short to create the tables.
  const store = place.openStore()
  await store.openEvents()
  await store.close()
  const children: Child[] = []
  for (const life of soakRounds(LIVES)) children.push(await live(place, life))
  const numbers = await found(place)
  let journalledInAll = 0
  let storedInAll = 0
  for (const [life, child] of children.entries()) {
    const there = numbers.get(String(life)) ?? []
    const stored = numbersBehind(child, 'stored')
    const journalled = numbersBehind(child, 'journalled')
    journalledInAll += journalled.length
    storedInAll += stored.length
    const isThere = new Set(there)
    expect(there.length, 'twice').toBe(isThere.size)
    expect(
      [...stored, ...journalled].filter((n) => !isThere.has(n)),
      'lost',
    ).toEqual([])
    expect(there, 'in the order of the calls').toEqual(there.toSorted((a, b) => a - b))
  }
  expect(journalledInAll).toBeGreaterThan(0)
  expect(storedInAll).toBeGreaterThan(0)
  if (SOAK_SECONDS > 0)
    console.log(
      `${children.length} lives, ${storedInAll} events acknowledged as stored, ${journalledInAll} as journalled`,
    )
}

const timeout = soakTimeout(180_000)

it('no acknowledged event is lost or stored twice on SQLite', { timeout }, async () => {
  const temp = tempDir()
  const filename = temp.file('audit.db')
  const other = new Database(filename, { timeout: 5000 })
  try {
    await killAgainAndAgain({
      location: filename,
      journal: temp.file('journal.db'),
      openStore: () => sqliteStore({ filename }),
      async trouble(child, life) {
        await delay(Math.random() * 200)
        other.exec('BEGIN IMMEDIATE')
        await delay(Math.random() * 300)
        other.exec('ROLLBACK')
        // Every second process is killed at a time when its journal cannot know which events are stored.
        if (life % 2 === 1) await child.saw('losing answers')
      },
    })
  } finally {
    other.close()
    temp.remove()
  }
})

it(
  'no acknowledged event is lost or stored twice on Postgres while the server crashes',
  { timeout },
  async () => {
    const temp = tempDir()
    const server = await startOwnPostgres()
    try {
      await killAgainAndAgain({
        location: server.url,
        journal: temp.file('journal.db'),
        openStore: () => postgresStore({ connectionString: server.url }),
        async trouble() {
          await delay(Math.random() * 300)
          await server.crash()
          // Longer than the deadline.
          await delay(200 + Math.random() * 200)
          await server.start()
        },
      })
    } finally {
      await server.stop()
      temp.remove()
    }
  },
)
