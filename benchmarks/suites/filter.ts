import { median } from 'simple-statistics'
import { type Print, short, table, times, whole, withSpread } from '../harness/format.js'
import { measuredOn, versionOf } from '../harness/machine.js'
import { SIZES } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { rotate, roundTitle } from '../harness/rounds.js'
import { Worker } from '../harness/workers.js'
import { COMPILE_CASES, MATCH_CASES, PARSE_CASES, WILDCARD_CASES } from '../targets/filter-cases.js'
import type { Answer, Job, Library, Setup } from '../targets/filter-process.js'

/*
 * How fast filters are parsed, compiled and evaluated in memory, compared with sift and mingo, and what
 * wildcards cost, compared with a regular expression. Each library has its own process with the same
 * events. Trials alternate, so that each ratio is taken within one round. A million events take each
 * process about 2 GB.
 */

const EVENTS = {
  '100k': [SIZES['100k']],
  '1m': [SIZES['1m']],
  both: [SIZES['100k'], SIZES['1m']],
} as const
const MATCHERS = ['daybook', 'sift', 'mingo'] as const
const PEERS = ['sift', 'mingo'] as const
const WILDCARDS = [10, 30, 100, 300, 1000]
const LENGTHS = [10_000, 30_000, 100_000, 300_000, 1_000_000]
const TEXT_LENGTH = 100_000
/** The wildcard case that is measured on texts of all lengths. */
const LENGTHS_CASE = 2

interface Trials<Name extends Library> {
  readonly libraries: readonly Name[]
  /** Events that each process holds. */
  readonly events: number
  readonly jobs: readonly Job[]
  readonly rounds: number
}

const startLibrary = (setup: Setup): Promise<Worker<Job, Answer>> =>
  Worker.start('filter-process.ts', setup, ['--max-old-space-size=6144'])

/** The answers of each round. */
type Rounds<Name extends Library> = { readonly [name in Name]: Answer }[]

/** By job, its rounds. A first round warms up. */
async function runTrials<Name extends Library>({
  libraries,
  events,
  jobs,
  rounds,
}: Trials<Name>): Promise<Rounds<Name>[]> {
  const results: Rounds<Name>[] = jobs.map(() => [])
  const workers = await Promise.all(
    libraries.map(async (library) => [library, await startLibrary({ library, events })] as const),
  )
  for (let round = 0; round <= rounds; round++) {
    for (const [i, job] of jobs.entries()) {
      const answers: Partial<Record<Name, Answer>> = {}
      for (const [library, worker] of rotate(workers, round + i))
        answers[library] = await worker.ask(job)
      if (round > 0) results[i]!.push(answers as Record<Name, Answer>)
    }
    const of = events > 0 ? ` of ${whole(events)} events` : ''
    console.error(`${jobs[0]!.job}${of}: ${roundTitle(round, rounds)}`)
  }
  for (const [, worker] of workers) await worker.end()
  return results
}

/** Prints milliseconds as microseconds, without the unit. */
const inMicroseconds: Print = (value) => short(value * 1000)

const timesOf = <Name extends Library>(rounds: Rounds<Name>, name: Name): number[] =>
  rounds.map((round) => round[name].milliseconds)

type MatcherRounds = Rounds<(typeof MATCHERS)[number]>

/** A column that says how many times as fast as the peer we were. The worst cell is bold. */
function speedupCells(results: readonly MatcherRounds[], peer: (typeof PEERS)[number]): string[] {
  const speedups = results.map((rounds) =>
    rounds.map((round) => round[peer].milliseconds / round.daybook.milliseconds),
  )
  const worst = Math.min(...speedups.map(median))
  return speedups.map((figures) => {
    const text = withSpread(figures, times)
    return median(figures) === worst ? `**${text}**` : text
  })
}

async function parseTable(rounds: number): Promise<string[]> {
  const jobs = PARSE_CASES.map((_, at): Job => ({ job: 'parse', at }))
  const libraries = ['daybook', 'URLSearchParams'] as const
  const results = await runTrials({ libraries, events: 0, jobs, rounds })
  return table(
    ['parse', 'characters', '`parseQuery` µs', '`URLSearchParams` µs'],
    PARSE_CASES.map(({ name, query }, i) => [
      name,
      whole(query.length),
      ...libraries.map((library) => withSpread(timesOf(results[i]!, library), inMicroseconds)),
    ]),
  )
}

async function compileTable(rounds: number): Promise<string[]> {
  const names = MATCH_CASES.map(({ name }) => name)
  const jobs = COMPILE_CASES.map((name): Job => ({ job: 'compile', at: names.indexOf(name) }))
  const results = await runTrials({ libraries: MATCHERS, events: 0, jobs, rounds })
  const speedups = PEERS.map((peer) => speedupCells(results, peer))
  return table(
    ['compile', 'daybook µs', 'sift µs', 'mingo µs', 'faster than sift', 'than mingo'],
    COMPILE_CASES.map((name, i) => [
      name,
      ...MATCHERS.map((library) => inMicroseconds(median(timesOf(results[i]!, library)))),
      ...speedups.map((cells) => cells[i]!),
    ]),
  )
}

/** The number of matching events, which must be the same for all libraries in all rounds. */
function matchesOf(name: string, rounds: MatcherRounds): number {
  const counts = rounds.flatMap((round) => MATCHERS.map((library) => round[library].found))
  if (new Set(counts).size !== 1)
    throw new Error(`${name}: ${MATCHERS.join(', ')} found ${counts.slice(0, 3).join(', ')}`)
  return counts[0]!
}

async function matchTable(events: number, rounds: number): Promise<string[]> {
  const jobs = MATCH_CASES.map((_, at): Job => ({ job: 'scan', at }))
  const results = await runTrials({ libraries: MATCHERS, events, jobs, rounds })
  const speedups = PEERS.map((peer) => speedupCells(results, peer))
  return table(
    [
      ...[`${whole(events)} events`, 'matches', 'daybook ms', 'million events/s'],
      ...['sift ms', 'mingo ms', 'faster than sift', 'than mingo'],
    ],
    MATCH_CASES.map(({ name }, i) => {
      const ours = timesOf(results[i]!, 'daybook')
      return [
        name,
        whole(matchesOf(name, results[i]!)),
        withSpread(ours, short),
        short(events / median(ours) / 1000),
        ...PEERS.map((peer) => short(median(timesOf(results[i]!, peer)))),
        ...speedups.map((cells) => cells[i]!),
      ]
    }),
  )
}

type WildcardJob = Extract<Job, { job: 'wildcards' }>

/** Runs the regular expression in a process that is killed after `cap` seconds. */
async function runRegExp(cap: number, job: WildcardJob): Promise<Answer | undefined> {
  const worker = await startLibrary({ library: 'RegExp', events: 0 })
  const answer = await worker.askWithin(cap, job)
  await worker.end()
  return answer
}

/** Once the regular expression was stopped, harder jobs are not tried. */
async function regExpCells(
  jobs: readonly WildcardJob[],
  ours: readonly Answer[],
  cap: number,
): Promise<string[]> {
  const cells: string[] = []
  let isStopped = false
  for (const [i, job] of jobs.entries()) {
    const answer: Answer | undefined = isStopped ? undefined : await runRegExp(cap, job)
    if (answer && answer.found !== ours[i]!.found)
      throw new Error(`the regular expression disagrees: ${JSON.stringify(job)}`)
    if (answer) cells.push(short(answer.milliseconds))
    else cells.push(isStopped ? '–' : `> ${cap} s`)
    isStopped ||= !answer
  }
  return cells
}

interface WildcardLines {
  readonly heads: readonly [string, ...string[]]
  readonly lines: readonly { readonly name: string; readonly jobs: readonly WildcardJob[] }[]
}

async function wildcardTable(
  { heads: [first, ...others], lines }: WildcardLines,
  rounds: number,
  cap: number,
): Promise<string[]> {
  const jobs = lines.flatMap((line) => line.jobs)
  const results = await runTrials({ libraries: ['daybook'], events: 0, jobs, rounds })
  const cells: string[][] = []
  for (const { name, jobs } of lines) {
    const ours = results.splice(0, jobs.length)
    const answers = ours.map(([first]) => first!.daybook)
    cells.push([name, 'daybook', ...ours.map((one) => short(median(timesOf(one, 'daybook'))))])
    cells.push(['', '`RegExp`', ...(await regExpCells(jobs, answers, cap))])
  }
  return table([first, 'ms', ...others], cells)
}

const wildcardJob = (at: number, wildcards: number, length: number): WildcardJob => ({
  job: 'wildcards',
  at,
  wildcards,
  length,
})

const BY_WILDCARDS: WildcardLines = {
  heads: [
    `wildcards in the pattern, ${whole(TEXT_LENGTH)} characters of text`,
    ...WILDCARDS.map(whole),
  ],
  lines: WILDCARD_CASES.map(({ name }, at) => ({
    name,
    jobs: WILDCARDS.map((wildcards) => wildcardJob(at, wildcards, TEXT_LENGTH)),
  })),
}

const BY_LENGTH: WildcardLines = {
  heads: ['characters of text, 100 wildcards in the pattern', ...LENGTHS.map(whole)],
  lines: [
    {
      name: WILDCARD_CASES[LENGTHS_CASE]!.name,
      jobs: LENGTHS.map((length) => wildcardJob(LENGTHS_CASE, 100, length)),
    },
  ],
}

export async function measure({
  rounds,
  size,
  cap,
}: {
  readonly rounds: number
  readonly size: keyof typeof EVENTS
  readonly cap: number
}): Promise<Section[]> {
  const matchTables: string[] = []
  for (const events of EVENTS[size]) matchTables.push('', ...(await matchTable(events, rounds)))
  const text = [
    `${measuredOn(...PEERS.map((name) => `${name} ${versionOf(name)}`))} Medians [min–max] of ${rounds} rounds. \`2×\` is twice`,
    'as fast as the peer in the same round; the worst of a column is bold. All three libraries get the same events and conditions,',
    'and must find the same number of events. sift and mingo get the path (`attributes.parent.code`); daybook gets the name',
    '`parent_code` and searches every place whose path joins to that name.',
    ...matchTables,
    '',
    ...(await compileTable(rounds)),
    '',
    ...(await parseTable(rounds)),
    '',
    `\`matches\` compared with the same pattern as a regular expression, which is stopped after ${cap} s (–: not tried after`,
    'that). The search for the text between two `%` depends on how many such texts there are and how long they are. Where many',
    '`_` stand between two `%`, as in the last case, 32 characters of the pattern take one step per character of text.',
    '',
    ...(await wildcardTable(BY_WILDCARDS, rounds, cap)),
    '',
    ...(await wildcardTable(BY_LENGTH, rounds, cap)),
  ].join('\n')
  return [{ name: 'filter', text }]
}
