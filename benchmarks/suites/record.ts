import path from 'node:path'
import { median } from 'simple-statistics'
import { microseconds, milliseconds, perSecond, whole } from '../harness/format.js'
import type { TrialResult } from '../harness/meter.js'
import type { TimedOptions } from '../harness/options.js'
import { isInstalled, peerVersion } from '../harness/peers.js'
import { runRounds } from '../harness/rounds.js'
import { defineSuite, type Goal, noSetUp, type Row, type Table } from '../harness/suite.js'
import { withTempFolder } from '../harness/temp.js'
import { runOnce } from '../harness/workers.js'
import type { SqlitePeer } from '../targets/sqlite-peers.js'
import type { Trial } from '../targets/sqlite-process.js'

/* `record` on SQLite. Each trial has its own process and file. At the end, all acknowledged events must be stored. */

type WithoutPlace<T> = T extends Trial ? Omit<T, 'filename' | 'seconds'> : never

/** Runs a trial in a new process on a new file. */
const runTrial = (trial: WithoutPlace<Trial>, seconds: number): Promise<TrialResult> =>
  withTempFolder((folder) =>
    runOnce('sqlite-process.ts', { ...trial, seconds, filename: path.join(folder, 'trial.db') }),
  )

const ratesOf = (results: readonly TrialResult[]): number[] =>
  results.map(({ eventsPerSecond }) => eventsPerSecond)
const print = ({ eventsPerSecond }: TrialResult): string => perSecond(eventsPerSecond)

interface Reference {
  readonly name: string
  readonly kind: 'plain' | 'raw'
  readonly json: 'before' | 'inside'
  /** Rows of a transaction. @default as many as ours */
  readonly batch?: 1
  /** The least ratio, by calls in flight. */
  readonly goals?: Readonly<Record<number, number>>
}

const REFERENCES: Readonly<Record<string, Reference>> = {
  single: {
    name: 'the same rows, a transaction per row',
    kind: 'plain',
    json: 'before',
    batch: 1,
  },
  batched: {
    name: 'the same rows, batches like ours, JSON text made before',
    kind: 'plain',
    json: 'before',
  },
  stringified: {
    name: 'the same rows, batches like ours, with `JSON.stringify`',
    kind: 'plain',
    json: 'inside',
  },
  raw: {
    name: 'rows of JSON text without an index, batches like ours, with `JSON.stringify`',
    kind: 'raw',
    json: 'inside',
    goals: { 64: 0.6, 1000: 0.8 },
  },
}

const IN_FLIGHT = [1, 64, 1000] as const

function noteOf(results: readonly TrialResult[]): string {
  const middle = (figure: (result: TrialResult) => number): number => median(results.map(figure))
  const p50 = milliseconds(middle((result) => result.p50))
  const p99 = milliseconds(middle((result) => result.p99))
  return `a call p50 ${p50}, p99 ${p99}, ${microseconds(middle(({ cpu }) => cpu))} of processor time per event, ${whole(middle(({ meanBatch }) => meanBatch))} events per commit`
}

async function limits(_: undefined, { rounds, seconds }: TimedOptions): Promise<Table[]> {
  const batches = new Map<number, number>()
  const measured = await runRounds<number, string, TrialResult>({
    cases: IN_FLIGHT,
    sides: ['record', ...Object.keys(REFERENCES)],
    rounds,
    async measure(inFlight, side) {
      if (side !== 'record') {
        const { kind, json, batch = batches.get(inFlight)! } = REFERENCES[side]!
        return runTrial({ kind, json, batch }, seconds)
      }
      const result = await runTrial({ kind: 'record', inFlight }, seconds)
      batches.set(inFlight, Math.max(1, Math.round(result.meanBatch)))
      return result
    },
    titleOf: (inFlight) => `${inFlight} in flight`,
    print,
  })
  const rows = [...measured].flatMap(([inFlight, answers]) =>
    Object.entries(REFERENCES).map(([side, { name, goals }], at): Row => {
      const least = goals?.[inFlight]
      return {
        name: `${whole(inFlight)} in flight`,
        ours: ratesOf(answers['record']!),
        theirs: ratesOf(answers[side]!),
        against: name,
        print: perSecond,
        ...(at === 0 && { note: noteOf(answers['record']!) }),
        goal: least === undefined ? undefined : { ratio: { atLeast: least } },
      }
    }),
  )
  return [{ title: 'Compared with better-sqlite3 alone', rows }]
}

const PER_SECOND = 20_000

async function rate(_: undefined, { rounds, seconds }: TimedOptions): Promise<Table[]> {
  const measured = await runRounds({
    cases: [PER_SECOND],
    sides: ['paced'],
    rounds,
    measure: (perSecond) => runTrial({ kind: 'paced', perSecond }, seconds),
    titleOf: whole,
    print,
  })
  const { paced } = measured.get(PER_SECOND)!
  const cpu = paced.flatMap(({ callerCpu }) => callerCpu ?? [])
  const rows: Row[] = [
    // A store that falls behind blocks the loop less.
    {
      name: 'events recorded',
      ours: ratesOf(paced),
      print: perSecond,
      goal: { figure: { atLeast: 0.95 * PER_SECOND } },
    },
    {
      name: 'event loop delay, p99',
      ours: paced.map(({ blockedP99 }) => blockedP99!),
      print: milliseconds,
      goal: { figure: { atMost: 4 } },
    },
  ]
  if (cpu.length > 0)
    rows.push({
      name: "processor time of the host's thread per event",
      ours: cpu,
      print: microseconds,
      goal: { figure: { atMost: 6 } },
    })
  return [{ title: `${whole(PER_SECOND)} events per second`, rows }]
}

const PEERS: Readonly<Record<SqlitePeer, { name: string; packages: readonly string[] }>> = {
  knex: { name: 'knex', packages: ['knex'] },
  typeorm: { name: 'typeorm', packages: ['typeorm'] },
  emmett: { name: 'emmett-sqlite', packages: ['@event-driven-io/emmett-sqlite', 'sqlite3'] },
}

const installedPeers = (): SqlitePeer[] =>
  (Object.keys(PEERS) as SqlitePeer[]).filter((peer) => {
    const isThere = PEERS[peer].packages.every(isInstalled)
    if (!isThere) console.error(`${PEERS[peer].name} is not installed; left out`)
    return isThere
  })

const goalBeside = (peer: SqlitePeer, inFlight: number): Goal => ({
  ratio: { atLeast: inFlight === 1 && peer !== 'emmett' ? 0.9 : 1 },
})

async function peers(_: undefined, { rounds, seconds }: TimedOptions): Promise<Table[]> {
  const installed = installedPeers()
  const measured = await runRounds<number, 'record' | SqlitePeer, TrialResult>({
    // Peers block the event loop while they insert, so more calls would only wait.
    cases: [100, 1],
    sides: ['record', ...installed],
    rounds,
    measure: (inFlight, kind) => runTrial({ kind, inFlight }, seconds),
    titleOf: (inFlight) => `${inFlight} in flight`,
    print,
  })
  const rows = [...measured].flatMap(([inFlight, answers]) =>
    installed.map((peer): Row => {
      const { name, packages } = PEERS[peer]
      return {
        name: `${name} ${peerVersion(packages[0]!)}, ${inFlight} in flight${peer === 'emmett' ? ', calls one after the other' : ''}`,
        ours: ratesOf(answers.record),
        theirs: ratesOf(answers[peer]),
        print: perSecond,
        goal: goalBeside(peer, inFlight),
      }
    }),
  )
  return [{ title: 'Peers, one event per call', rows, chart: 'recording-sqlite' }]
}

export const suite = defineSuite<undefined>({ setUp: noSetUp, parts: { limits, rate, peers } })
