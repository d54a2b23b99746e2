import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type AuditEvent, AuditLog, type EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import fc from 'fast-check'
import { compileSources } from '../support/global-compiled.js'
import { type OwnServer, startOwnPostgres } from '../support/postgres.js'
import { allEvents } from '../support/reported-losses.js'
import { tempDir } from '../support/temp.js'
import { checkOf } from './kill-child.js'
import type { Campaign } from './run.js'

/*
 * Three processes record into one log. In each round one of them is killed with SIGKILL; its next life repeats, with
 * the same idempotency keys, what was not acknowledged. Each log takes some rounds, on SQLite and Postgres in turn. No
 * acknowledged event may be lost, doubled, out of order or damaged; a follower must get each event once, in order.
 */

const PROCESSES = 3
const ROUNDS_PER_LOG = 50
/** Kills during the start, and after the first event. */
const MAX_START_MS = 500
const MAX_LIFE_MS = 200

/** When a process is killed. */
export interface KillRound {
  readonly isEarly: boolean
  /** Of 1000. */
  readonly part: number
}
export const killRounds: fc.Arbitrary<KillRound> = fc.record({
  isEarly: fc.constantFrom(true, false, false, false),
  part: fc.integer({ min: 0, max: 1000 }),
})

/** Waits until the process is to be killed: during its start, or some time after it has begun. */
export async function waitFor(
  { isEarly, part }: KillRound,
  began: Promise<unknown>,
): Promise<void> {
  if (!isEarly) await began
  await delay((part / 1000) * (isEarly ? MAX_START_MS : MAX_LIFE_MS))
}

export interface Place {
  readonly location: string
  openStore(): EventStore
  /** Throws if the database is damaged. */
  check(): void
}

interface Kept {
  readonly id: string
  readonly created_at: string
}

/** The calls that the processes of a log have acknowledged. */
interface Acknowledged {
  readonly kept: Map<string, Kept>
  /** Times in the order of the acknowledgements, by life and lane. */
  readonly lanes: Map<string, string[]>
}

/** A life of a process. */
class Life {
  readonly #child: ChildProcess
  readonly #acknowledged: Acknowledged
  readonly #open = new Set<string>()
  readonly #name: string
  #rest = ''
  #stderr = ''
  readonly began: Promise<unknown>

  constructor(
    file: string,
    place: Place,
    name: string,
    repeated: readonly string[],
    acknowledged: Acknowledged,
  ) {
    this.#name = name
    this.#acknowledged = acknowledged
    for (const key of repeated) this.#open.add(key)
    const args = [file, place.location, name, JSON.stringify(repeated)]
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text))
    let begin = (): void => {}
    this.began = new Promise<void>((resolve) => (begin = resolve))
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n')
      this.#rest = lines.pop()!
      for (const line of lines) if (this.#read(line)) begin()
    })
  }

  /** True if the line acknowledges an event. */
  #read(line: string): boolean {
    const [word, lane, key, id, created_at] = line.split(' ') as [
      string,
      string,
      string,
      string,
      string,
    ]
    if (word === 'begin') this.#open.add(key)
    if (word !== 'kept') return false
    this.#open.delete(key)
    if (this.#acknowledged.kept.has(key)) throw new Error(`${key} was acknowledged twice`)
    this.#acknowledged.kept.set(key, { id, created_at })
    // A repeated call may get the event of an earlier life.
    if (key.startsWith(`${this.#name}:`)) {
      const place = `${this.#name}:${lane}`
      const times = this.#acknowledged.lanes.get(place) ?? []
      this.#acknowledged.lanes.set(place, [...times, created_at])
    }
    return true
  }

  /** Ends the process if it still runs. */
  end(): void {
    this.#child.kill('SIGKILL')
  }

  /** Returns the keys without an acknowledgement. */
  async kill(): Promise<readonly string[]> {
    const ended = once(this.#child, 'close')
    if (this.#child.exitCode !== null) throw new Error(`${this.#name} ended: ${this.#stderr}`)
    this.#child.kill('SIGKILL')
    await ended
    return [...this.#open]
  }
}

/** Follows the log until the returned function is called, and then until it has the newest event. */
function follow(audit: AuditLog): () => Promise<readonly string[]> {
  const ids: string[] = []
  const tail = audit.tail('', { after: '2000-01-01' })
  const reading = (async () => {
    for await (const event of tail) {
      ids.push(event.id)
      if (event.type === 'test:over') return
    }
  })()
  reading.catch(() => {})
  return async () => {
    await audit.recordCustom('test:over')
    await reading
    return ids
  }
}

interface Figures {
  kept: number
  repeated: number
  logs: number
}

function checkEvents(events: readonly AuditEvent[], { kept, lanes }: Acknowledged): void {
  const found = new Map<string, AuditEvent>()
  for (const event of events) {
    if (event.type !== 'test:killed') continue
    const { key, check } = event.attributes as Record<'key' | 'check', string>
    if (found.has(key)) throw new Error(`doubled: ${key}`)
    if (check !== checkOf(key)) throw new Error(`damaged: ${key}`)
    found.set(key, event)
  }
  for (const [key, { id, created_at }] of kept) {
    const event = found.get(key)
    if (!event) throw new Error(`lost: ${key}`)
    if (event.id !== id || event.created_at !== created_at) throw new Error(`changed: ${key}`)
  }
  for (const [lane, times] of lanes)
    for (let i = 1; i < times.length; i++)
      if (times[i - 1]! >= times[i]!) throw new Error(`out of order: ${lane}, ${times[i]}`)
  for (let i = 1; i < events.length; i++)
    if (events[i - 1]!.created_at >= events[i]!.created_at)
      throw new Error(`out of order: ${events[i]!.id}`)
}

async function runLog(file: string, place: Place, plan: readonly KillRound[], figures: Figures) {
  const audit: AuditLog = new AuditLog({ store: place.openStore(), types: {} })
  const lives: Life[] = []
  try {
    await audit.recordCustom('test:begin')
    const end = follow(audit)
    const acknowledged: Acknowledged = { kept: new Map(), lanes: new Map() }
    const left = [...plan]
    const runProcess = async (number: number): Promise<void> => {
      let open: readonly string[] = []
      for (let round = left.pop(); round; round = left.pop()) {
        const life = new Life(file, place, `${number}-${lives.length}`, open, acknowledged)
        lives.push(life)
        await waitFor(round, life.began)
        open = await life.kill()
        figures.repeated += open.length
      }
      for (const key of open) {
        const data = { key, check: checkOf(key) }
        const event = await audit.recordCustom('test:killed', data, { idempotencyKey: key })
        acknowledged.kept.set(key, event!)
      }
    }
    await Promise.all(Array.from({ length: PROCESSES }, (_, i) => runProcess(i)))
    const followed = await end()
    const events = await allEvents(audit)
    checkEvents(events, acknowledged)
    if (followed.join() !== events.map(({ id }) => id).join())
      throw new Error(`the follower got ${followed.length} of ${events.length} events, or others`)
    figures.kept += acknowledged.kept.size
    figures.logs += 1
  } finally {
    for (const life of lives) life.end()
    await audit.close()
  }
  place.check()
}

export function sqlitePlace(filename: string): Place {
  const check = (): void => {
    const database = new Database(filename, { readonly: true })
    const found = database.pragma('integrity_check', { simple: true })
    database.close()
    if (found !== 'ok') throw new Error(`damaged: ${String(found)}`)
  }
  return { location: filename, openStore: () => sqliteStore({ filename }), check }
}

export const postgresPlace = ({ url }: OwnServer): Place => ({
  location: url,
  openStore: () => postgresStore({ connectionString: url }),
  check() {},
})

export const campaign: Campaign = {
  rounds: 1000,
  async run({ seed, rounds: count, from, failed }) {
    const compiled = await compileSources()
    const file = path.join(compiled.folder, 'test/campaigns/kill-child.js')
    const plan = fc.sample(killRounds, { seed, numRuns: count })
    const figures: Figures = { kept: 0, repeated: 0, logs: 0 }
    for (let first = from; first < count; first += ROUNDS_PER_LOG) {
      const number = Math.floor(first / ROUNDS_PER_LOG)
      const some = plan.slice(first, first + ROUNDS_PER_LOG)
      const isPostgres = number % 2 === 1
      const server = isPostgres ? await startOwnPostgres() : undefined
      const temp = tempDir()
      const place = server ? postgresPlace(server) : sqlitePlace(temp.file('audit.db'))
      try {
        await runLog(file, place, some, figures)
      } catch (error) {
        failed(`round ${first} and the following: ${(error as Error).stack}`)
      }
      temp.remove()
      await server?.stop()
      const store = isPostgres ? 'Postgres' : 'SQLite'
      console.log(`${first + some.length} rounds of ${count}, seed ${seed} (${store})`, figures)
    }
    await compiled.remove()
    return { ...figures }
  },
}
