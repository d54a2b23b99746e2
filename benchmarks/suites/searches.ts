import { median } from 'simple-statistics'
import { milliseconds, whole } from '../harness/format.js'
import type { StoreSetup } from '../harness/open-store.js'
import type { Material } from '../harness/query-cases.js'
import { needlesIn, needleTicket, needleWord, TYPES } from '../harness/sample-events.js'
import type { Row, Table } from '../harness/suite.js'
import { runOnce } from '../harness/workers.js'
import type { CountAnswer, CountJob, TextAnswer } from '../targets/search-process.js'

/*
 * Figures over all events of a log, in the time that a count has by default, and searches of all texts (`q`) for what few
 * events have. Each case has a new process in each round. Goals are for logs of a million events or more.
 */

interface CountCase extends Omit<CountJob, 'times'> {
  readonly name: string
  /** The maximum of milliseconds. */
  readonly limit: number
}

const BUCKETS = { buckets: { count: 96 } } as const
const COMMON = `filter[type_eq]=${TYPES[0]!}`

const COUNT_CASES: readonly CountCase[] = [
  { name: 'total and levels', filter: '', options: {}, limit: 300 },
  { name: '96 buckets', filter: '', options: BUCKETS, limit: 300 },
  { name: '96 buckets, a common type', filter: COMMON, options: BUCKETS, limit: 300 },
  {
    name: '96 buckets, two conditions on attributes',
    filter: 'filter[cluster_region_eq]=north&filter[attempt_gt]=2',
    options: BUCKETS,
    limit: 300,
  },
  {
    name: 'facets: level, type, username',
    filter: '',
    options: { ...BUCKETS, facets: ['level', 'type', 'username'] },
    limit: 1000,
  },
  {
    name: 'a facet of 5,000 values',
    filter: '',
    options: { facets: ['parent_code'] },
    limit: 1000,
  },
  {
    name: 'facets of 200 and of 5,000 values, two users',
    filter: 'filter[username_in][]=user0&filter[username_in][]=user3',
    options: { facets: ['type', 'parent_code'] },
    limit: 1000,
  },
]

/** Calls of a process. The first reads what the process does not have in memory. */
const TIMES = 5

/** Answers of new processes, one for each round. */
async function inRounds<Answer>(
  setup: StoreSetup,
  rounds: number,
  jobOf: (round: number) => object,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let round = 0; round < rounds; round++)
    answers.push(await runOnce<Answer>('search-process.ts', setup, jobOf(round)))
  return answers
}

const areExact = (answers: readonly { readonly isExact: boolean }[]): boolean =>
  answers.every(({ isExact }) => isExact)

/** The median of all but the first call. */
const laterOf = (calls: readonly number[]): number => median(calls.slice(1))
const firstOf = (calls: readonly (readonly number[])[]): string =>
  `the first of a process ${milliseconds(median(calls.map(([first]) => first!)))}`

/** Counts of a log of this many events. */
export async function countTables(
  setup: StoreSetup,
  events: number,
  rounds: number,
): Promise<Table[]> {
  const rows: Row[] = []
  for (const { name, limit, filter, options } of COUNT_CASES) {
    const job: CountJob = { filter, options, times: TIMES }
    const answers = await inRounds<CountAnswer>(setup, rounds, () => job)
    const calls = answers.map((answer) => answer.milliseconds)
    rows.push({
      name,
      ours: calls.map(laterOf),
      print: milliseconds,
      note: firstOf(calls),
      goal: events < 1e6 ? undefined : { figure: { atMost: limit }, isExact: areExact(answers) },
    })
  }
  return [{ title: `Counts, ${whole(events)} events`, rows }]
}

interface TextCase {
  readonly name: string
  text(material: Material, number: number): string
}

const sampleOf = ({ samples }: Material, number: number): Material['samples'][number]['data'] =>
  samples[number % samples.length]!.data

const changeOf = (log: Material, number: number): string =>
  sampleOf(log, number)['change_id'] as string

/** The end of the source of an event, which leads to the step if there is one. */
const sourceOf = (log: Material, number: number): string => {
  const step = sampleOf(log, number)['step_id'] as string | undefined
  return step === undefined ? `changes/${changeOf(log, number)}` : `steps/${step}`
}

const numberOf = ({ events }: Material, number: number): number =>
  number % Math.max(1, needlesIn(events))

const TEXT_CASES: readonly TextCase[] = [
  { name: 'a word: 3 in a million', text: (log, n) => needleWord(numberOf(log, n)) },
  {
    name: 'a part of a word: 3 in a million',
    text: (log, n) => needleWord(numberOf(log, n)).slice(2),
  },
  { name: 'a word that no event has', text: (_, n) => `xylophone${n}` },
  { name: 'a nested text: 3 in a million', text: (log, n) => needleTicket(numberOf(log, n)) },
  { name: 'a UUID: one event', text: changeOf },
  { name: 'the end of a UUID: one event', text: (log, n) => changeOf(log, n).slice(-12) },
  { name: 'a source: one event', text: sourceOf },
  {
    name: 'a frequent word and a rare one',
    text: (log, n) => `runner ${needleWord(numberOf(log, n))}`,
  },
]

const MAX_TEXT_MS = 20

/** Searches of a log, each for another text: pages of up to 1,000 events, and the counts of the same searches. */
export async function textTables(
  setup: StoreSetup,
  material: Material,
  rounds: number,
): Promise<Table[]> {
  const { events } = material
  const rows: Row[] = []
  for (const { name, text } of TEXT_CASES) {
    const answers = await inRounds<TextAnswer>(setup, rounds, (round) => ({
      texts: Array.from({ length: TIMES }, (_, i) => text(material, round * 307 + i)),
    }))
    const lists = answers.map((answer) => answer.lists)
    const count = median(answers.flatMap(({ counts }) => counts))
    rows.push({
      name,
      ours: lists.map(laterOf),
      print: milliseconds,
      note: `${areExact(answers) ? 'exact' : 'estimated'} count ${milliseconds(count)}, ${firstOf(lists)}`,
      goal: events < 1e6 ? undefined : { figure: { atMost: MAX_TEXT_MS } },
    })
    const found = answers.reduce((sum, answer) => sum + answer.found, 0)
    console.error(`free text, ${name}: ${whole(found)} found`)
  }
  return [{ title: `Free text, ${whole(events)} events`, rows }]
}
