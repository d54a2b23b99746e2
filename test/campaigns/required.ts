import http from 'node:http'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog } from 'daybook'
import { compileSources } from '../support/global-compiled.js'
import { openStore } from '../support/open-store.js'
import { allEvents } from '../support/reported-losses.js'
import { KINDS } from './required-child.js'
import type { Campaign } from './run.js'
import { createBegin, killInTurn, killRounds, type KillRound, type Life } from './shared/lives.js'
import { startProcess, until } from './shared/process.js'
import { runLogs } from './shared/rounds.js'

/*
 * Three processes on one store handle requests with `recordRequests({ required: true })`. In each round one of them
 * is killed with SIGKILL during its requests. Two other logs on the store take over the remaining intents once the
 * heartbeats have ended. Then each request whose handler ran must have exactly one event, and the event of an
 * answered request must have its outcome. A request that was not sent must have no event. Every fifth log is on
 * Postgres.
 */

const LANES = 4
const KEEPERS = 2
// The heartbeats of the last processes end after 20 seconds; a busy machine takes longer.
const MAX_TAKEOVER_MS = 300_000

/** The knowledge of the clients of all processes. */
interface Known {
  readonly sent: Set<string>
  readonly ran: Set<string>
  readonly answered: Map<string, number>
}

/** The status of the response; `undefined` if there is none. */
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

/** Starts a process, with clients that send requests until it is killed. */
function startLife([file, location, name]: readonly [string, string, string], known: Known): Life {
  const { sent, ran, answered } = known
  const agent = new http.Agent({ keepAlive: true })
  const { began, begin } = createBegin()
  let isKilled = false
  const clients: Promise<unknown>[] = []
  const ask = async (port: number, target: string): Promise<void> => {
    const status = await post(port, target, agent)
    if (status === undefined) return
    answered.set(target, status)
    begin()
  }
  const send = async (port: number, lane: number): Promise<void> => {
    for (let n = 0; !isKilled; n++) {
      const kind = KINDS[(n + lane) % KINDS.length]!
      const target = `/${kind}/${name}-${lane}-${n}`
      sent.add(target)
      const answer = ask(port, target)
      if (kind === 'hanging') clients.push(answer)
      else await answer
    }
  }
  const running = startProcess(name, [file, location], (line) => {
    const [word, value] = line.split(' ') as [string, string]
    if (word === 'ran' && ran.has(value)) throw new Error(`${value} ran twice`)
    if (word === 'ran') ran.add(value)
    if (word === 'port')
      for (let lane = 0; lane < LANES; lane++) clients.push(send(Number(value), lane))
  })
  const end = async (how: 'kill' | 'end'): Promise<void> => {
    isKilled = true
    await running[how]()
    agent.destroy()
    await Promise.all(clients)
  }
  return { began, running: { ...running, kill: () => end('kill'), end: () => end('end') } }
}

interface Figures {
  logs: number
  sent: number
  ran: number
  answered: number
  /** Events of requests whose process was killed. */
  unfinished: number
}

/** Throws unless each request that ran has exactly one event, and no other request has two. */
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

async function runLog(
  file: string,
  location: string,
  plan: readonly KillRound[],
  figures: Figures,
): Promise<void> {
  const keepers = Array.from({ length: KEEPERS }, () => {
    const audit: AuditLog = new AuditLog({ store: openStore(location), types: {} })
    audit.intents()
    return audit
  })
  const [audit] = keepers as [AuditLog]
  const known: Known = { sent: new Set(), ran: new Set(), answered: new Map() }
  try {
    await killInTurn(plan, (name) => startLife([file, location, name], known))
    await until('no intent of a killed process is left', MAX_TAKEOVER_MS, async () => {
      await delay(500)
      return (await audit.store.updateState('intents', (value) => value)) === undefined
    })
    figures.unfinished += checkEvents(await allEvents(audit), known)
    figures.logs += 1
    for (const name of ['sent', 'ran', 'answered'] as const) figures[name] += known[name].size
  } finally {
    await Promise.all(keepers.map((keeper) => keeper.close()))
  }
}

export const campaign: Campaign = {
  rounds: 1000,
  async run(run) {
    const compiled = await compileSources()
    const file = path.join(compiled.folder, 'test/campaigns/required-child.js')
    const figures: Figures = { logs: 0, sent: 0, ran: 0, answered: 0, unfinished: 0 }
    const isPostgres = (log: number): boolean => log % 5 === 4
    await runLogs(run, { round: killRounds, perLog: 100, isPostgres, figures }, (location, some) =>
      runLog(file, location, some, figures),
    )
    await compiled.remove()
    return { ...figures }
  },
}
