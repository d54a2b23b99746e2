import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog } from 'daybook'
import fc from 'fast-check'
import { compileSources } from '../support/global-compiled.js'
import { startOwnPostgres } from '../support/postgres.js'
import { allEvents } from '../support/reported-losses.js'
import { tempDir } from '../support/temp.js'
import {
  type KillRound,
  killRounds,
  type Place,
  postgresPlace,
  sqlitePlace,
  waitFor,
} from './kill.js'
import { KINDS } from './required-child.js'
import type { Campaign } from './run.js'

/*
 * Three processes on one store handle requests with `recordRequests({ required: true })`. In each round one of them is killed
 * with SIGKILL among its requests. Two other logs on the store take over what is left once the heartbeats have ended.
 * Then each request whose handler ran must have exactly one event: the outcome if it was answered, and none may be
 * of a request that was not sent. Every fifth log is on Postgres.
 */

const PROCESSES = 3
const LANES = 4
const ROUNDS_PER_LOG = 100
const KEEPERS = 2
// The heartbeats of the last processes end after 20 seconds; a busy machine takes longer.
const MAX_TAKEOVER_MS = 300_000

/** What the clients of all processes know. */
interface Known {
  readonly sent: Set<string>
  readonly ran: Set<string>
  readonly answered: Map<string, number>
}

/** The status of the response; undefined if there is none. */
function post(port: number, target: string, agent: http.Agent): Promise<number | undefined> {
  return new Promise((resolve) => {
    const options = { agent, port, path: target, method: 'POST', host: '127.0.0.1' }
    const request = http.request(options, (response) => {
      response.resume()
      response.once('close', () => resolve(response.complete ? response.statusCode : undefined))
    })
    request.once('error', () => resolve(undefined))
    request.end()
  })
}

/** A life of a process, with clients that send requests until it is killed. */
class Life {
  readonly #child: ChildProcess
  readonly #known: Known
  readonly #name: string
  readonly #agent = new http.Agent({ keepAlive: true })
  readonly #clients: Promise<unknown>[] = []
  #rest = ''
  #stderr = ''
  #isKilled = false
  #begin = (): void => {}
  readonly began = new Promise<void>((resolve) => (this.#begin = resolve))

  constructor(file: string, place: Place, name: string, known: Known) {
    this.#name = name
    this.#known = known
    this.#child = spawn(process.execPath, [file, place.location], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text))
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n')
      this.#rest = lines.pop()!
      for (const line of lines) this.#read(line)
    })
  }

  #read(line: string): void {
    const [word, value] = line.split(' ') as [string, string]
    if (word === 'ran' && this.#known.ran.has(value)) throw new Error(`${value} ran twice`)
    if (word === 'ran') this.#known.ran.add(value)
    if (word === 'port')
      for (let lane = 0; lane < LANES; lane++) this.#clients.push(this.#send(Number(value), lane))
  }

  async #ask(port: number, target: string): Promise<void> {
    const status = await post(port, target, this.#agent)
    if (status === undefined) return
    this.#known.answered.set(target, status)
    this.#begin()
  }

  async #send(port: number, lane: number): Promise<void> {
    for (let n = 0; !this.#isKilled; n++) {
      const kind = KINDS[(n + lane) % KINDS.length]!
      const target = `/${kind}/${this.#name}-${lane}-${n}`
      this.#known.sent.add(target)
      const answer = this.#ask(port, target)
      if (kind === 'hanging') this.#clients.push(answer)
      else await answer
    }
  }

  /** Ends the process if it still runs. */
  end(): void {
    this.#isKilled = true
    this.#child.kill('SIGKILL')
    this.#agent.destroy()
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null) throw new Error(`${this.#name} ended: ${this.#stderr}`)
    const ended = once(this.#child, 'close')
    this.end()
    await ended
    await Promise.all(this.#clients)
  }
}

interface Figures {
  logs: number
  sent: number
  ran: number
  answered: number
  /** Events of requests whose process was killed. */
  unfinished: number
}

/** Throws unless each request that ran has exactly one event, and no other has two. */
function checkEvents(events: readonly AuditEvent[], { sent, ran, answered }: Known): number {
  const byPath = new Map<string, AuditEvent>()
  for (const event of events) {
    const target = event.attributes['request_path'] as string
    if (!sent.has(target)) throw new Error(`an event of no request: ${JSON.stringify(event)}`)
    if (byPath.has(target)) throw new Error(`two events of ${target}`)
    byPath.set(target, event)
  }
  const missing = [...ran].filter((target) => !byPath.has(target))
  if (missing.length > 0) throw new Error(`no event of ${missing.join(', ')}`)
  for (const [target, status] of answered) {
    if (!ran.has(target)) throw new Error(`${target} was answered with ${status} and did not run`)
    const { unfinished, response_status } = byPath.get(target)!.attributes
    if (unfinished !== undefined || response_status !== status)
      throw new Error(
        `${target} was answered with ${status}: ${JSON.stringify(byPath.get(target))}`,
      )
  }
  const unfinished = [...byPath].filter(([, { attributes }]) => attributes['unfinished'] === true)
  const hung = [...ran].filter((target) => target.startsWith('/hanging/'))
  const reported = new Set(unfinished.map(([target]) => target))
  if (hung.some((target) => !reported.has(target)))
    throw new Error('a hanging request has an outcome')
  return unfinished.length
}

interface LogRun {
  readonly place: Place
  readonly plan: readonly KillRound[]
  readonly figures: Figures
  /** Called when all rounds are over. Then only their heartbeats have to end. */
  readonly onKilled: () => void
}

async function runLog(file: string, { place, plan, figures, onKilled }: LogRun): Promise<void> {
  const keepers = Array.from({ length: KEEPERS }, () => {
    const audit: AuditLog = new AuditLog({ store: place.openStore(), types: {} })
    audit.intents()
    return audit
  })
  const [audit] = keepers as [AuditLog]
  const known: Known = { sent: new Set(), ran: new Set(), answered: new Map() }
  const lives: Life[] = []
  const left = [...plan]
  const runProcess = async (number: number): Promise<void> => {
    for (let round = left.pop(); round; round = left.pop()) {
      const life = new Life(file, place, `${number}-${lives.length}`, known)
      lives.push(life)
      await waitFor(round, life.began)
      await life.kill()
    }
  }
  try {
    await Promise.all(Array.from({ length: PROCESSES }, (_, i) => runProcess(i)))
    onKilled()
    const end = performance.now() + MAX_TAKEOVER_MS
    while ((await audit.store.updateState('intents', (value) => value)) !== undefined) {
      if (performance.now() > end) throw new Error('intents of killed processes are left')
      await delay(500)
    }
    figures.unfinished += checkEvents(await allEvents(audit), known)
    figures.logs += 1
    for (const name of ['sent', 'ran', 'answered'] as const) figures[name] += known[name].size
  } finally {
    for (const life of lives) life.end()
    await Promise.all(keepers.map((keeper) => keeper.close()))
  }
  place.check()
}

export const campaign: Campaign = {
  rounds: 1000,
  async run({ seed, rounds: count, from, failed }) {
    const compiled = await compileSources()
    const file = path.join(compiled.folder, 'test/campaigns/required-child.js')
    const plan = fc.sample(killRounds, { seed, numRuns: count })
    const figures: Figures = { logs: 0, sent: 0, ran: 0, answered: 0, unfinished: 0 }
    const runSome = async (first: number, onKilled: () => void): Promise<void> => {
      const number = Math.floor(first / ROUNDS_PER_LOG)
      const some = plan.slice(first, first + ROUNDS_PER_LOG)
      const server = number % 5 === 4 ? await startOwnPostgres() : undefined
      const temp = tempDir()
      const place = server ? postgresPlace(server) : sqlitePlace(temp.file('audit.db'))
      try {
        await runLog(file, { place, plan: some, figures, onKilled })
      } catch (error) {
        failed(`round ${first} and the following: ${(error as Error).stack}`)
      }
      temp.remove()
      await server?.stop()
      const store = server ? 'Postgres' : 'SQLite'
      console.log(`${first + some.length} rounds of ${count}, seed ${seed} (${store})`, figures)
    }
    const runs: Promise<void>[] = []
    for (let first = from; first < count; first += ROUNDS_PER_LOG) {
      // Resolves too if a run ends before all processes are killed.
      await new Promise<void>((resolve) => {
        runs.push(runSome(first, resolve).finally(resolve))
      })
    }
    await Promise.all(runs)
    await compiled.remove()
    return { ...figures }
  },
}
