import { median } from 'simple-statistics'
import { milliseconds, whole } from '../harness/format.js'
import { type StoreSetup, storeTitles } from '../harness/open-store.js'
import type { Size } from '../harness/options.js'
import type { Material } from '../harness/query-cases.js'
import { createRandom } from '../harness/random.js'
import { goalFor, type Row, rowOf } from '../harness/results.js'
import { needlesIn, needleTicket, needleWord } from '../harness/sample-events.js'
import { Worker } from '../harness/workers.js'
import type { FreeTextAnswer, FreeTextJob } from '../targets/free-text-process.js'
import { openLog } from '../targets/sqlite-log.js'

/*
 * Searches of all texts of a log (`q`) for what few events have: pages of up to 1,000 events, and the counts of the same
 * searches. Each search asks for another text. Each case has a new process in each round. Goals are for logs of a million
 * events or more.
 */

interface FreeTextCase {
  readonly name: string
  query(material: Material, number: number): string
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

const CASES: readonly FreeTextCase[] = [
  { name: 'a word: 3 in a million', query: (log, n) => needleWord(numberOf(log, n)) },
  {
    name: 'a part of a word: 3 in a million',
    query: (log, n) => needleWord(numberOf(log, n)).slice(2),
  },
  { name: 'a word that no event has', query: (_, n) => `xylophone${n}` },
  { name: 'a nested text: 3 in a million', query: (log, n) => needleTicket(numberOf(log, n)) },
  { name: 'a UUID: one event', query: changeOf },
  { name: 'the end of a UUID: one event', query: (log, n) => changeOf(log, n).slice(-12) },
  { name: 'a source: one event', query: sourceOf },
  {
    name: 'a frequent word and a rare one',
    query: (log, n) => `runner ${needleWord(numberOf(log, n))}`,
  },
]

/** Searches of a process. The first reads what the process does not have in memory. */
const TIMES = 7

const MAX_MS = 20

interface Measured {
  /** By round. */
  readonly first: number[]
  readonly lists: number[]
  readonly counts: number[]
  sampled: number
  found: number
}

async function measureCase(
  setup: StoreSetup,
  material: Material,
  one: FreeTextCase,
  rounds: number,
): Promise<Measured> {
  const measured: Measured = { first: [], lists: [], counts: [], sampled: 0, found: 0 }
  const random = createRandom(rounds)
  for (let round = 0; round < rounds; round++) {
    const worker = await Worker.start<FreeTextJob, FreeTextAnswer>('free-text-process.ts', setup)
    const from = random.below(1000)
    const queries = Array.from({ length: TIMES }, (_, i) => one.query(material, from + i))
    const { lists, counts, found, isExact } = await worker.ask({ queries })
    await worker.end()
    const [first, ...later] = lists
    measured.first.push(first!)
    measured.lists.push(median(later))
    measured.counts.push(median(counts))
    if (!isExact) measured.sampled += 1
    measured.found += found
  }
  const times = measured.lists.map(milliseconds).join(', ')
  console.error(`free text, ${one.name}: ${whole(measured.found)} found, ${times}`)
  return measured
}

/** Searches of a log. */
export async function freeTextRows(
  setup: StoreSetup,
  material: Material,
  rounds: number,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const one of CASES) {
    const { first, lists, counts, sampled } = await measureCase(setup, material, one, rounds)
    const count = `${sampled === 0 ? 'exact' : 'estimated'} count ${milliseconds(median(counts))}`
    rows.push(
      rowOf({
        group: `Free text, ${storeTitles[setup.store]}, ${whole(material.events)} events`,
        name: one.name,
        daybook: lists,
        print: milliseconds,
        note: `${count}, the first of a process ${milliseconds(median(first))}`,
        goals:
          material.events < 1e6 ? [] : [goalFor('below', MAX_MS, lists, { print: milliseconds })],
      }),
    )
  }
  return rows
}

export async function measure(
  { size, rounds }: { readonly size: Size; readonly rounds: number },
  folder: string,
): Promise<Row[]> {
  const log = await openLog(size, folder)
  return freeTextRows({ store: 'sqlite', filename: log.daybook }, log, rounds)
}
