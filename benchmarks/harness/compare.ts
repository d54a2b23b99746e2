import { median, quantile } from 'simple-statistics'
import type { Query } from './query.js'
import { type Material, queriesOf, type QueryCase } from './query-cases.js'
import type { QueryAnswer, QueryJob, QuerySetup } from './query-target.js'
import { rotate, roundTitle } from './rounds.js'
import { Worker } from './workers.js'

/* Sends the same queries to several sides in turn, and checks that all sides return the same events. */

export interface Side {
  readonly setup: QuerySetup
  /** Sides with the same log get the same queries and must return the same events. */
  readonly log: Material
  /** SQL with the ideal index of each case; otherwise SQL scans. */
  readonly isIdeal?: boolean
  /** False for cases that this side cannot answer or is not compared on. */
  readonly takes: (one: QueryCase) => boolean
  /** Node flags of its process. */
  readonly flags?: readonly string[]
}

export interface Times {
  /** Milliseconds of each query, by round. */
  readonly rounds: (readonly number[])[]
}

/** The median of each round. */
export const mediansOf = ({ rounds }: Times): number[] => rounds.map(median)

/** p99 of all queries of all rounds. */
export const p99Of = ({ rounds }: Times): number => quantile(rounds.flat(), 0.99)

interface Answered {
  readonly log: Material
  readonly queries: readonly Query[]
  readonly answer: QueryAnswer
}

function checkEqual(one: QueryCase, all: readonly Answered[]): void {
  const [first, ...others] = all
  for (const { log, queries, answer } of others)
    for (const [i, { digest, events }] of answer.results.entries()) {
      const expected = first!.answer.results[i]
      if (log === first!.log && expected && expected.digest !== digest)
        throw new Error(
          `${one.name}: the sides disagree (${expected.events} and ${events} events): ${JSON.stringify(queries[i])}`,
        )
    }
}

export interface CompareOptions {
  /** Queries of a case in a round; fewer where they take too long. */
  readonly queries: number
  /** Unmeasured queries before them; fewer where they take too long. */
  readonly warmUp: number
  /** No query of a case and side starts later in a round. */
  readonly maxSeconds: number
  /** Keeps one process per side for all rounds, where its preparation takes long. */
  readonly keepProcesses: boolean
}

const DEFAULTS: CompareOptions = {
  queries: 50,
  warmUp: 200,
  maxSeconds: 1,
  keepProcesses: false,
}

type Workers<Name extends string> = Readonly<Record<Name, Worker<QueryJob, QueryAnswer>>>

async function startAll<Name extends string>(
  sides: Readonly<Record<Name, Side>>,
): Promise<Workers<Name>> {
  const workers = Object.entries<Side>(sides).map(
    async ([name, { setup, flags }]) =>
      [name, await Worker.start<QueryJob, QueryAnswer>('query-process.ts', setup, flags)] as const,
  )
  return Object.fromEntries(await Promise.all(workers)) as Workers<Name>
}

async function endAll<Name extends string>(workers: Workers<Name>): Promise<void> {
  for (const worker of Object.values<Worker<QueryJob, QueryAnswer>>(workers)) await worker.end()
}

/** The job of a side in one round, where `seed` selects the values of the queries. */
function jobOf(side: Side, one: QueryCase, seed: number, options: CompareOptions): QueryJob {
  const { setup, log, isIdeal } = side
  const { queries, warmUp, maxSeconds } = options
  const all = queriesOf(one, log, queries + warmUp, seed)
  const isScan = ['jsonb', 'matcher'].includes(setup.side) || (setup.side === 'raw' && !isIdeal)
  return {
    queries: all.slice(0, queries),
    warmUp: isScan ? [] : all.slice(queries),
    ideal: isIdeal ? one.ideal : undefined,
    maxSeconds,
  }
}

export type SideTimes<Name extends string> = Partial<Record<Name, Times>>

/** Times by case and side. */
export async function compareSides<Name extends string>(
  cases: readonly QueryCase[],
  sides: Readonly<Record<Name, Side>>,
  rounds: number,
  options: CompareOptions = DEFAULTS,
): Promise<Map<QueryCase, SideTimes<Name>>> {
  const found = new Map(cases.map((one): [QueryCase, SideTimes<Name>] => [one, {}]))
  const names = Object.keys(sides) as Name[]

  const runCase = async (workers: Workers<Name>, at: number, round: number): Promise<void> => {
    const one = cases[at]!
    const turn = round * 1000 + at
    const times = found.get(one)!
    const answered: Answered[] = []
    const progress: string[] = []
    for (const name of rotate(names, turn)) {
      const side = sides[name]
      if (!side.takes(one)) continue
      const job = jobOf(side, one, 1 + turn, options)
      const answer = await workers[name].ask(job)
      answered.push({ log: side.log, queries: job.queries, answer })
      const timed = (times[name] ??= { rounds: [] })
      timed.rounds.push(answer.milliseconds)
      progress.push(`${name} ${median(answer.milliseconds).toFixed(3)} ms`)
    }
    checkEqual(one, answered)
    console.error(`${roundTitle(round + 1, rounds)}, ${one.name}: ${progress.join(', ')}`)
  }

  let workers: Workers<Name> | undefined
  for (let round = 0; round < rounds; round++) {
    workers ??= await startAll(sides)
    for (const at of cases.keys()) await runCase(workers, at, round)
    if (options.keepProcesses && round < rounds - 1) continue
    await endAll(workers)
    workers = undefined
  }
  return found
}
