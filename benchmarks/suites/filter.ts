/*
 * How fast filters are read, compiled and matched in memory, beside sift and mingo, and what many
 * wildcards cost, beside a regular expression:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/filter.ts \
 *     [--rounds 5] [--size 100k|1m|both] [--cap 10] [--write]
 *
 * That tsconfig has `daybook` lead to the built package, as users get it. Each library works in a
 * process of its own with the same events; trials take turns, so that each ratio is of neighbours in
 * time. A million events take each library's process about 2 GB. `--cap` is the number of seconds
 * after which a regular expression is stopped. `--write` puts the result into results.md.
 */
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { COMPILE_CASES, MATCH_CASES, PARSE_CASES, WILDCARD_CASES } from '../targets/filter-cases.js'
import type { Answer, Job, Library, Setup } from '../targets/filter-process.js'
import {
  measuredCode,
  median,
  type Print,
  processor,
  row,
  short,
  times,
  whole,
  withSpread,
  writeSection,
} from '../harness/format.js'
import { Worker } from '../harness/workers.js'

const ALL_CASES = MATCH_CASES.map(({ name }) => name)
const SIZES: Readonly<Record<string, readonly number[]>> = {
  '100k': [100_000],
  '1m': [1_000_000],
  both: [100_000, 1_000_000],
}
const MATCHERS = ['daybook', 'sift', 'mingo'] as const
const WILDCARDS = [10, 30, 100, 300, 1000]
const LENGTHS = [10_000, 30_000, 100_000, 300_000, 1_000_000]
const TEXT = 100_000
/** The wildcard case that is tried on texts of all lengths. */
const LONG_TEXTS = 2

const startLibrary = (setup: Setup): Promise<Worker<Job, Answer>> =>
  Worker.start('filter-process.ts', setup, ['--max-old-space-size=6144'])

/** What each round found, by library. */
type Rounds<Name extends Library> = { readonly [name in Name]: Answer }[]

/** Starts a process for each library, lets the trials of every job take turns, and ends them. */
async function takeTurns<Name extends Library>(
  libraries: readonly Name[],
  events: number,
  jobs: readonly Job[],
  rounds: number,
): Promise<Rounds<Name>[]> {
  const found: Rounds<Name>[] = jobs.map(() => [])
  const workers = await Promise.all(
    libraries.map(async (library) => [library, await startLibrary({ library, events })] as const),
  )
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [i, job] of jobs.entries()) {
      const answers: Partial<Record<Name, Answer>> = {}
      const turn = (round + i) % workers.length
      for (const [library, worker] of [...workers.slice(turn), ...workers.slice(0, turn)])
        answers[library] = await worker.ask(job)
      if (round > 0) found[i]!.push(answers as Record<Name, Answer>)
    }
    const [{ job }] = jobs as [Job]
    const of = events > 0 ? ` of ${whole(events)} events` : ''
    console.error(`${job}${of}: ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`)
  }
  for (const [, worker] of workers) await worker.end()
  return found
}

const micro: Print = (value) => short(value * 1000)

const timesOf = <Name extends Library>(rounds: Rounds<Name>, name: Name): number[] =>
  rounds.map((round) => round[name].milliseconds)

/** How many times as fast as a peer we were in each round. */
const factors = <Name extends Library>(rounds: Rounds<Name>, ours: Name, peer: Name): number[] =>
  rounds.map((round) => round[peer].milliseconds / round[ours].milliseconds)

const emphasised = (text: string, isWorst: boolean): string => (isWorst ? `**${text}**` : text)

/** Factors of one peer in every line, the worst of them in bold. */
function factorCells(lines: readonly (readonly number[])[]): string[] {
  const worst = Math.min(...lines.map(median))
  return lines.map((line) => emphasised(withSpread(line, times), median(line) === worst))
}

function table(heads: readonly string[], lines: readonly (readonly string[])[]): string[] {
  return [
    row(...heads),
    row(':--', ...heads.slice(1).map(() => '--:')),
    ...lines.map((l) => row(...l)),
  ]
}

async function parseTable(rounds: number): Promise<string[]> {
  const jobs = PARSE_CASES.map((_, at): Job => ({ job: 'parse', at }))
  const found = await takeTurns(['daybook', 'URLSearchParams'], 0, jobs, rounds)
  return table(
    ['parse', 'characters', '`parseQuery` µs', '`URLSearchParams` µs'],
    PARSE_CASES.map(({ name, query }, i) => [
      name,
      whole(query.length),
      withSpread(timesOf(found[i]!, 'daybook'), micro),
      withSpread(timesOf(found[i]!, 'URLSearchParams'), micro),
    ]),
  )
}

async function compileTable(rounds: number): Promise<string[]> {
  const jobs = COMPILE_CASES.map((name): Job => ({ job: 'compile', at: ALL_CASES.indexOf(name) }))
  const found = await takeTurns(MATCHERS, 0, jobs, rounds)
  const toSift = factorCells(found.map((one) => factors(one, 'daybook', 'sift')))
  const toMingo = factorCells(found.map((one) => factors(one, 'daybook', 'mingo')))
  return table(
    ['compile', 'daybook µs', 'sift µs', 'mingo µs', 'faster than sift', 'than mingo'],
    COMPILE_CASES.map((name, i) => [
      name,
      ...MATCHERS.map((library) => micro(median(timesOf(found[i]!, library)))),
      toSift[i]!,
      toMingo[i]!,
    ]),
  )
}

/** All libraries must find the same number of events, in every round. */
function matchesOf(name: string, rounds: Rounds<(typeof MATCHERS)[number]>): number {
  const counts = rounds.flatMap((round) => MATCHERS.map((library) => round[library].found))
  if (new Set(counts).size !== 1)
    throw new Error(`${name}: ${MATCHERS.join(', ')} found ${counts.slice(0, 3).join(', ')}`)
  return counts[0]!
}

async function matchTable(events: number, rounds: number): Promise<string[]> {
  const names = ALL_CASES
  const jobs = names.map((_, at): Job => ({ job: 'scan', at }))
  const found = await takeTurns(MATCHERS, events, jobs, rounds)
  const matches = names.map((name, i) => matchesOf(name, found[i]!))
  const toSift = factorCells(found.map((one) => factors(one, 'daybook', 'sift')))
  const toMingo = factorCells(found.map((one) => factors(one, 'daybook', 'mingo')))
  const middle = (i: number, library: (typeof MATCHERS)[number]): string =>
    short(median(timesOf(found[i]!, library)))
  return table(
    [
      `${whole(events)} events`,
      'matches',
      'daybook ms',
      'million events/s',
      'sift ms',
      'mingo ms',
      'faster than sift',
      'than mingo',
    ],
    names.map((name, i) => {
      const ours = timesOf(found[i]!, 'daybook')
      return [
        name,
        whole(matches[i]!),
        withSpread(ours, short),
        short(events / median(ours) / 1000),
        middle(i, 'sift'),
        middle(i, 'mingo'),
        toSift[i]!,
        toMingo[i]!,
      ]
    }),
  )
}

type WildcardJob = Extract<Job, { job: 'wildcards' }>

/** What a regular expression takes, in a process that can be stopped. */
async function stoppedAfter(cap: number, job: WildcardJob): Promise<Answer | undefined> {
  const worker = await startLibrary({ library: 'RegExp', events: 0 })
  const answer = await worker.askAtMost(cap, job)
  await worker.end()
  return answer
}

/** Once one was stopped, those after it are not tried. */
async function regExpCells(
  jobs: readonly WildcardJob[],
  ours: readonly Answer[],
  cap: number,
): Promise<string[]> {
  const cells: string[] = []
  let isStopped = false
  for (const [i, job] of jobs.entries()) {
    const answer: Answer | undefined = isStopped ? undefined : await stoppedAfter(cap, job)
    if (answer && answer.found !== ours[i]!.found)
      throw new Error(`the regular expression disagrees: ${JSON.stringify(job)}`)
    if (answer) cells.push(short(answer.milliseconds))
    else cells.push(isStopped ? '–' : `> ${cap} s`)
    isStopped ||= !answer
  }
  return cells
}

async function wildcardTable(
  heads: readonly [string, ...string[]],
  lines: readonly { name: string; jobs: readonly WildcardJob[] }[],
  rounds: number,
  cap: number,
): Promise<string[]> {
  const found = await takeTurns(
    ['daybook'],
    0,
    lines.flatMap(({ jobs }) => jobs),
    rounds,
  )
  const cells: string[][] = []
  for (const { name, jobs } of lines) {
    const ours = found.splice(0, jobs.length)
    const answers = ours.map(([first]) => first!.daybook)
    cells.push([name, 'daybook', ...ours.map((one) => short(median(timesOf(one, 'daybook'))))])
    cells.push(['', '`RegExp`', ...(await regExpCells(jobs, answers, cap))])
  }
  const [first, ...others] = heads
  return table([first, 'ms', ...others], cells)
}

async function wildcardTables(rounds: number, cap: number): Promise<string[]> {
  const jobOf = (at: number, wildcards: number, length: number): WildcardJob => ({
    job: 'wildcards',
    at,
    wildcards,
    length,
  })
  const byWildcards = await wildcardTable(
    [`wildcards in the pattern, ${whole(TEXT)} characters of text`, ...WILDCARDS.map(whole)],
    WILDCARD_CASES.map(({ name }, at) => ({
      name,
      jobs: WILDCARDS.map((wildcards) => jobOf(at, wildcards, TEXT)),
    })),
    rounds,
    cap,
  )
  const byLength = await wildcardTable(
    ['characters of text, 100 wildcards in the pattern', ...LENGTHS.map(whole)],
    [
      {
        name: WILDCARD_CASES[LONG_TEXTS]!.name,
        jobs: LENGTHS.map((length) => jobOf(LONG_TEXTS, 100, length)),
      },
    ],
    rounds,
    cap,
  )
  return [...byWildcards, '', ...byLength]
}

function machine(): string {
  const require = createRequire(import.meta.url)
  const peers = ['sift', 'mingo'].map((name) => {
    const { version } = require(`${name}/package.json`) as { version: string }
    return `${name} ${version}`
  })
  return `${processor()}, ${peers.join(', ')}`
}

async function report(rounds: number, sizes: readonly number[], cap: number): Promise<string> {
  const code = measuredCode()
  const matching: string[] = []
  for (const events of sizes) matching.push('', ...(await matchTable(events, rounds)))
  const date = new Date().toISOString().slice(0, 10)
  return [
    `Measured ${date} on ${machine()}: ${code}. Median [least–greatest] of ${rounds} rounds; \`2×\` is`,
    'twice as fast as the peer in the same round, and the worst of a column is bold. All three',
    'libraries are given the same events and conditions, and have to find the same number. sift and',
    'mingo are told the path (`attributes.parent.code`); daybook is told `parent_code` and looks in',
    'every place whose path joins to that name.',
    ...matching,
    '',
    ...(await compileTable(rounds)),
    '',
    ...(await parseTable(rounds)),
    '',
    `\`matches\` beside the same pattern as a regular expression, stopped after ${cap} s (–: not tried`,
    'after that). Few and short stretches between `%` are looked for one way, more or longer ones another. Where',
    'many `_` stand between two `%`, as in the last case, 32 characters of the pattern are one step for each',
    'character of text.',
    '',
    ...(await wildcardTables(rounds, cap)),
  ].join('\n')
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    size: { type: 'string', default: 'both' },
    cap: { type: 'string', default: '10' },
    write: { type: 'boolean', default: false },
  },
})
const [rounds, cap] = [Number(values.rounds), Number(values.cap)]
const sizes = SIZES[values.size]
if (!Number.isInteger(rounds) || rounds < 1 || !(cap > 0) || !sizes)
  throw new Error(
    '--rounds must be a whole number from 1, --cap a number above 0, --size 100k, 1m or both',
  )
const text = await report(rounds, sizes, cap)
console.log(text)
if (values.write) writeSection('filter', text)
