import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import fc from 'fast-check'
import { median } from 'simple-statistics'
import { compileSources } from '../support/global-compiled.js'
import { type Running, startProcess, until as untilHanging } from '../campaigns/shared/process.js'
import { TYPE } from './child.js'
import { type Cluster, findPrograms, type Mode, type Node, startCluster } from './cluster.js'

/*
 * `npm run test:ha -- [--mode synchronous|asynchronous] [--fault name] [--rounds n] [--from n] [--seed n] [--seconds n] [--logs folder]`:
 * random failovers of a cluster that Patroni manages, while four processes record eight events at a time, and three processes follow.
 * Half of them reach the primary through HAProxy, the others know all servers. The events of the log, the acknowledged ones and those
 * that the followers got are compared. Needs Debian packages, which it names. `--fault` takes the place of the random faults. `--from`
 * leaves out the first rounds of the seed; no round begins after `--seconds`. `--logs` gets the logs of the cluster. Ends with exit
 * code 1 if a synchronous cluster lost an event, any cluster doubled one, a follower missed one, or a round failed.
 */

const FAULTS = ['kill postgres', 'kill Patroni', 'switchover', 'freeze'] as const
type Fault = (typeof FAULTS)[number]

interface Round {
  readonly fault: Fault
  /** Milliseconds of load before the fault. */
  readonly after: number
}

const roundsOf = (faults: readonly Fault[]): fc.Arbitrary<Round> =>
  fc.record({ fault: fc.constantFrom(...faults), after: fc.integer({ min: 500, max: 3000 }) })

const WRITERS = 4
const FOLLOWED: readonly string[] = ['', '', `filter[type_eq]=${TYPE}`]
/** Time limit for a process that hangs. It is long, because a busy machine is slow. */
const HANGS_AFTER_MS = 90_000

interface Acknowledged {
  readonly key: string
  readonly lane: string
  readonly id: string
  readonly createdAt: string
  /** Time by `performance.now()` of this process. */
  readonly at: number
}

/** The output of the processes. */
interface Heard {
  readonly kept: Acknowledged[]
  readonly rejected: { readonly key: string; readonly code: string }[]
  /** Received events by follower. */
  readonly got: Map<string, string[]>
}

function startChild(file: string, args: readonly string[], heard: Heard): Running {
  const [role, name] = args as [string, string]
  if (role === 'follower') heard.got.set(name, [])
  return startProcess(name, [file, ...args], (line) => {
    const [word, ...words] = line.split(' ') as [string, ...string[]]
    const [a, b, c, d] = words as [string, string, string, string]
    if (word === 'kept')
      heard.kept.push({ lane: `${name}:${a}`, key: b, id: c, createdAt: d, at: performance.now() })
    else if (word === 'rejected') heard.rejected.push({ key: b, code: c })
    else if (c !== 'undefined') heard.got.get(name)!.push(a)
  })
}

const until = (what: string, condition: () => boolean | Promise<boolean>): Promise<void> =>
  untilHanging(what, HANGS_AFTER_MS, condition)

/** Causes the fault. Returns a function that repairs the damage. */
async function inject(cluster: Cluster, fault: Fault, primary: Node): Promise<() => void> {
  switch (fault) {
    case 'kill postgres':
      cluster.killPostgres(primary)
      return () => {}
    case 'kill Patroni':
      cluster.killPatroni(primary)
      return () => cluster.startPatroni(primary)
    case 'switchover':
      await cluster.switchOver(primary)
      return () => {}
    case 'freeze':
      return cluster.freeze(primary)
  }
}

/** A round that has begun. */
interface Begun {
  readonly number: number
  readonly fault: Fault
  /** Time by `performance.now()` of this process. */
  readonly at: number
}

/** Names the rounds in which the first lost events were acknowledged. */
function describeLost(lost: readonly Acknowledged[], begun: readonly Begun[]): void {
  for (const { lane, createdAt, at } of lost.slice(0, 20)) {
    const round = begun.findLast((one) => one.at <= at)
    const where = round
      ? `${Math.round(at - round.at)} ms after the begin of round ${round.number}, ${round.fault}`
      : 'before the first round'
    console.log(`lost: ${lane} ${createdAt}, acknowledged ${where}`)
  }
}

/** Runs one round. Returns the longest time without an acknowledged event, of all lanes together, in milliseconds. */
async function runRound(cluster: Cluster, { fault, after }: Round, kept: Acknowledged[]) {
  await cluster.untilHealthy()
  await delay(after)
  const primary = (await cluster.primary())!
  const lanes = new Set(kept.map(({ lane }) => lane))
  const begun = performance.now()
  const from = kept.length
  const repair = await inject(cluster, fault, primary)
  let isRepaired = false
  const repairOnce = (): void => {
    if (!isRepaired) repair()
    isRepaired = true
  }
  try {
    await until('another server is the primary', async () => {
      const next = await cluster.primary()
      // Patroni restarts a killed server if no standby is synchronous at that moment.
      if (!next || (next.name === primary.name && fault !== 'kill postgres')) return false
      return cluster.acceptsWrites(next)
    })
    const promoted = kept.length
    await until('every lane goes on', () => {
      const active = new Set(kept.slice(promoted).map(({ lane }) => lane))
      return active.size === lanes.size
    })
  } finally {
    repairOnce()
  }
  const times = [begun, ...kept.slice(from).map(({ at }) => at)]
  return Math.max(...times.slice(1).map((at, i) => at - times[i]!))
}

interface Figures {
  rounds: number
  acknowledged: number
  lost: number
  doubled: number
  /** Reason why the run ended early. */
  failure?: string
  /** Rejected calls by code, and how many of their events are in the log. */
  rejected: Record<string, number>
  keptThoughRejected: number
  missedByFollowers: number
  repeatedToFollowers: number
  /** Events that a follower got, and the log does not have any more. */
  gotAndLost: number
  outOfOrder: number
  /** Absent if the first round failed. */
  nextAcknowledgedMs?: { p50: number; max: number }
}

const outOfOrder = (times: readonly string[]): number =>
  times.filter((time, i) => i > 0 && times[i - 1]! >= time).length

interface LogEvent {
  readonly id: string
  readonly createdAt: string
  readonly key: string
}

async function readLog(audit: AuditLog): Promise<readonly LogEvent[]> {
  const found: LogEvent[] = []
  const query = `filter[type_eq]=${TYPE}&filter[sorts]=created_at`
  for await (const events of audit.pages(query))
    for (const { id, created_at, attributes } of events)
      found.push({ id, createdAt: created_at, key: attributes['key'] as string })
  return found
}

function compare(log: readonly LogEvent[], { kept, rejected, got }: Heard) {
  const ids = new Set(log.map(({ id }) => id))
  const keys = new Set(log.map(({ key }) => key))
  const codes: Record<string, number> = {}
  for (const { code } of rejected) codes[code] = (codes[code] ?? 0) + 1
  const lanes = new Map<string, string[]>()
  for (const { lane, createdAt } of kept) {
    const times = lanes.get(lane)
    if (times) times.push(createdAt)
    else lanes.set(lane, [createdAt])
  }
  const followers = [...got.values()]
  const order = new Map(log.map(({ id }, i) => [id, i]))
  const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0)
  return {
    acknowledged: kept.length,
    lost: kept.filter(({ id }) => !ids.has(id)).length,
    doubled: log.length - keys.size,
    rejected: codes,
    keptThoughRejected: rejected.filter(({ key }) => keys.has(key)).length,
    missedByFollowers: sum(
      followers.map((events) => {
        const received = new Set(events)
        return log.filter(({ id }) => !received.has(id)).length
      }),
    ),
    repeatedToFollowers: sum(followers.map((events) => events.length - new Set(events).size)),
    gotAndLost: sum(followers.map((events) => events.filter((id) => !ids.has(id)).length)),
    outOfOrder:
      outOfOrder(log.map(({ createdAt }) => createdAt)) +
      sum([...lanes.values()].map(outOfOrder)) +
      sum(
        followers.map((events) => {
          const places = events.flatMap((id) => order.get(id) ?? [])
          return places.filter((place, i) => i > 0 && places[i - 1]! >= place).length
        }),
      ),
  }
}

interface Run {
  readonly mode: Mode
  readonly plan: readonly Round[]
  readonly first: number
  readonly seconds: number
  readonly child: string
  readonly logs: string | undefined
}

async function runMode({ mode, plan, first, seconds, child, logs }: Run): Promise<Figures> {
  const cluster = await startCluster(mode)
  const stop = async (): Promise<never> => {
    await cluster.stop()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())
  const heard: Heard = { kept: [], rejected: [], got: new Map() }
  const children: Running[] = []
  const audit = new AuditLog({
    store: postgresStore({ connectionString: cluster.hostsUrl, queryTimeoutMs: 60_000 }),
    types: {},
    waiting: { deadlineMs: 60_000 },
  })
  try {
    await cluster.untilHealthy()
    await audit.recordCustom('test:begin')
    const urlOf = (n: number): string => (n % 2 === 0 ? cluster.proxyUrl : cluster.hostsUrl)
    const start = (role: string, n: number, filter: string): Running =>
      startChild(child, [role, `${role}${n}`, urlOf(n), filter], heard)
    const followers = FOLLOWED.map((filter, n) => start('follower', n, filter))
    const writers = Array.from({ length: WRITERS }, (_, n) => start('writer', n, ''))
    children.push(...writers, ...followers)
    await until(
      'all lanes record',
      () => new Set(heard.kept.map(({ lane }) => lane)).size === 2 * WRITERS,
    )
    const waits: number[] = []
    const begun: Begun[] = []
    const end = performance.now() + seconds * 1000
    const runRounds = async (): Promise<void> => {
      for (const [i, round] of plan.entries()) {
        if (performance.now() > end) break
        begun.push({ number: first + i, fault: round.fault, at: performance.now() })
        const ms = await runRound(cluster, round, heard.kept)
        waits.push(ms)
        console.log(
          `${mode}, round ${first + i}: ${round.fault}, next record after ${Math.round(ms)} ms`,
        )
      }
      await cluster.untilHealthy()
    }
    // The events of the rounds before a failed one are compared nevertheless.
    const failure = await runRounds().then(
      () => undefined,
      (error: unknown) => String(error),
    )
    for (const writer of writers) await writer.finish()
    const log = await readLog(audit)
    await until('the followers have all events', () =>
      [...heard.got.values()].every((events) => events.at(-1) === log.at(-1)!.id),
    ).catch(() => {})
    for (const follower of followers) await follower.finish()
    const ids = new Set(log.map(({ id }) => id))
    describeLost(
      heard.kept.filter(({ id }) => !ids.has(id)),
      begun,
    )
    if (children.some((one) => one.stderr().includes('acknowledged events are lost')))
      console.log(`${mode}: processes warned that acknowledged events are lost`)
    return {
      rounds: waits.length,
      ...(failure !== undefined && { failure }),
      ...compare(log, heard),
      ...(waits.length > 0 && {
        nextAcknowledgedMs: { p50: Math.round(median(waits)), max: Math.round(Math.max(...waits)) },
      }),
    }
  } finally {
    for (const one of children) await one.end()
    await audit.close()
    if (logs) cluster.copyLogs(path.join(logs, mode))
    await cluster.stop()
  }
}

const { values } = parseArgs({
  options: {
    mode: { type: 'string' },
    fault: { type: 'string' },
    rounds: { type: 'string', default: '50' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    seconds: { type: 'string', default: 'Infinity' },
    logs: { type: 'string' },
  },
})
const MODES: readonly Mode[] = ['synchronous', 'asynchronous']
const modes = MODES.filter((mode) => !values.mode || mode === values.mode)
if (modes.length === 0) throw new Error(`--mode must be ${MODES.join(' or ')}`)
const faults = FAULTS.filter((fault) => !values.fault || fault === values.fault)
if (faults.length === 0) throw new Error(`--fault must be one of ${FAULTS.join(', ')}`)
findPrograms()
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
const first = Number(values.from)
const plan = fc.sample(roundsOf(faults), { seed, numRuns: Number(values.rounds) }).slice(first)
const compiled = await compileSources()
const child = path.join(compiled.folder, 'test/ha/child.js')
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
for (const mode of modes) {
  const { seconds, logs } = values
  const figures = await runMode({ mode, plan, first, seconds: Number(seconds), child, logs })
  console.log({ mode, commit, seed, from: first, ...figures })
  const { lost, doubled, missedByFollowers, repeatedToFollowers, outOfOrder: wrong } = figures
  const mistakes = doubled + missedByFollowers + repeatedToFollowers + wrong
  if (figures.failure !== undefined || mistakes > 0 || (mode === 'synchronous' && lost > 0))
    process.exitCode = 1
}
await compiled.remove()
