import type { Ask } from './query.js'
import { quantile } from './meter.js'
import { median } from './format.js'
import { asksOf, type Material, type QueryCase } from './query-cases.js'
import type { Answer, Job, Setup } from '../targets/query-process.js'
import { Worker } from './workers.js'

/* Puts the same questions to several sides in turns, and checks that they give the same answers. */

/** One who is asked. */
export interface Side {
  readonly setup: Setup
  /** Sides of the same log are asked the same, and have to answer the same. */
  readonly log: Material
  /** Answers by the index that a case is best served by; otherwise it scans. Of SQL only. */
  readonly isIdeal?: boolean
  /** Not asked those that it has no way to answer, or that are not compared to it. */
  readonly isAsked: (one: QueryCase) => boolean
  /** Of its process's Node. */
  readonly flags?: readonly string[]
}

/** Milliseconds by round, and what the first question of the first round was answered by. */
export interface Times {
  readonly rounds: (readonly number[])[]
  steps: Answer['steps']
}

/** The median of each round. */
export const mediansOf = ({ rounds }: Times): number[] => rounds.map(median)

/** Of all questions of all rounds. */
export const p99Of = ({ rounds }: Times): number =>
  quantile(Float64Array.from(rounds.flat()).toSorted(), 0.99)

interface Answered {
  readonly log: Material
  readonly asks: readonly Ask[]
  readonly answer: Answer
}

function check(one: QueryCase, all: readonly Answered[]): void {
  const [first, ...others] = all
  for (const { log, asks, answer } of others)
    for (const [i, { digest, events }] of answer.found.entries()) {
      const expected = first!.answer.found[i]
      if (log === first!.log && expected && expected.digest !== digest)
        throw new Error(
          `${one.name}: ${expected.events} events, and ${events} others: ${JSON.stringify(asks[i])}`,
        )
    }
}

export interface AskOptions {
  /** Of one case in one round; fewer where they take too long. */
  readonly questions: number
  /** So many others before, unmeasured, as a service that runs has been asked before; fewer as well. */
  readonly warmUp: number
  /** One process a side for all rounds, where it takes long to make ready. */
  readonly isKept: boolean
}

const OF_FILES: AskOptions = { questions: 50, warmUp: 200, isKept: false }
const MOST_SECONDS = 2

type Workers<Name extends string> = Readonly<Record<Name, Worker<Job, Answer>>>

async function startAll<Name extends string>(
  sides: Readonly<Record<Name, Side>>,
): Promise<Workers<Name>> {
  const workers = Object.entries<Side>(sides).map(
    async ([name, { setup, flags }]) =>
      [name, await Worker.start<Job, Answer>('query-process.ts', setup, flags)] as const,
  )
  return Object.fromEntries(await Promise.all(workers)) as Workers<Name>
}

async function endAll<Name extends string>(workers: Workers<Name>): Promise<void> {
  for (const worker of Object.values<Worker<Job, Answer>>(workers)) await worker.end()
}

/** Gives each its turn to be the first. */
const turned = <Item>(items: readonly Item[], by: number): Item[] => {
  const at = by % items.length
  return [...items.slice(at), ...items.slice(0, at)]
}

export type Found<Name extends string> = Partial<Record<Name, Times>>

/** By case and side. */
export async function askAll<Name extends string>(
  cases: readonly QueryCase[],
  sides: Readonly<Record<Name, Side>>,
  rounds: number,
  { questions, warmUp, isKept }: AskOptions = OF_FILES,
): Promise<Map<QueryCase, Found<Name>>> {
  const found = new Map(cases.map((one): [QueryCase, Found<Name>] => [one, {}]))
  const names = Object.keys(sides) as Name[]

  /** Puts a case to all sides, one after the other. */
  const put = async (
    workers: Workers<Name>,
    one: QueryCase,
    round: number,
    turn: number,
  ): Promise<void> => {
    const times = found.get(one)!
    const answered: Answered[] = []
    const told: string[] = []
    for (const name of turned(names, turn)) {
      const { setup, log, isIdeal, isAsked } = sides[name]
      if (!isAsked(one)) continue
      const all = asksOf(one, log, questions + warmUp, 1 + turn)
      const asks = all.slice(0, questions)
      const isScan = setup.side === 'plain' || (setup.side === 'raw' && !isIdeal)
      const answer = await workers[name].ask({
        asks,
        warmUp: isScan ? [] : all.slice(questions),
        ideal: isIdeal ? one.ideal : undefined,
        mostSeconds: MOST_SECONDS,
        explained: round === 0,
      })
      answered.push({ log, asks, answer })
      const timed = (times[name] ??= { rounds: [], steps: answer.steps })
      timed.rounds.push(answer.milliseconds)
      told.push(`${name} ${median(answer.milliseconds).toFixed(3)} ms`)
    }
    check(one, answered)
    console.error(`round ${round + 1} of ${rounds}, ${one.name}: ${told.join(', ')}`)
  }

  let workers: Workers<Name> | undefined
  for (let round = 0; round < rounds; round++) {
    workers ??= await startAll(sides)
    for (const [at, one] of cases.entries()) await put(workers, one, round, round * 1000 + at)
    if (isKept && round < rounds - 1) continue
    await endAll(workers)
    workers = undefined
  }
  return found
}
