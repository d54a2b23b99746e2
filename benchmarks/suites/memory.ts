/*
 * How fast questions are answered in memory, beside sift and mingo that match the same events from the
 * newest on, until there are enough:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/memory.ts [--size 10k|100k|1m] [--rounds 3]
 *
 * Each has a process to itself; they take turns, and have to find the same events in the same order. A
 * million events take each process 2 GB or more; larger logs are not made here.
 */
import { createRequire } from 'node:module'
import { askAll, type Found, mediansOf, p99Of, type Side } from '../harness/compare.js'
import { createSampler } from '../harness/sample-events.js'
import { type Aim, aimFor, ratios, type Row, rowOf, tell } from '../harness/results.js'
import type { Sample } from '../targets/log-process.js'
import type { Matcher } from '../targets/matchers.js'
import { readSized, SIZES } from '../harness/options.js'
import { microseconds, type Print, whole } from '../harness/format.js'
import { type Material, QUERY_CASES, type QueryCase } from '../harness/query-cases.js'

const MOST_EVENTS = SIZES['1m']
const SAMPLES = 500
const MATCHERS: readonly Matcher[] = ['sift', 'mingo']
/** How many times as fast as each what no index answers is to be. */
const SCAN_AIMS: { readonly [name in Matcher]: number } = { sift: 2.5, mingo: 7 }

const require = createRequire(import.meta.url)
const micro: Print = (value) => microseconds(value * 1000)

/** What all of them can be asked: no times, as only our events have one, and no sorts. */
function isPutTo(one: QueryCase): boolean {
  const { sort, terms } = one.ask({ events: 1, samples: [SAMPLE], random: FIRST })
  return !sort && terms.length > 0 && terms.every(({ path: [first] }) => first !== 'created_at')
}

const SAMPLE: Sample = { createdAt: 0, data: { change_id: '', request_id: '' } }
const FIRST = {
  next: () => 0,
  below: () => 0,
  mostlyLow: () => 0,
  pick: <Item>(items: readonly Item[]): Item => items[0]!,
  hex: () => '',
  uuid: () => '',
}

/** The same events that the processes make. */
function materialOf(events: number): Material {
  const next = createSampler()
  const sampled = Math.max(1, Math.floor(events / SAMPLES))
  const samples: Sample[] = []
  for (let i = 0; i < events; i++) {
    const { data } = next()
    if (i % sampled === 0) samples.push({ createdAt: 0, data })
  }
  return { events, samples }
}

const { size, rounds, rows } = readSized({ rounds: 3 })
const events = Math.min(SIZES[size], MOST_EVENTS)

type SideName = 'daybook' | Matcher

function sidesOf(log: Material): Record<SideName, Side> {
  const { events } = log
  const flags = ['--max-old-space-size=8192']
  const isAsked = (): boolean => true
  const matcher = (name: Matcher): Side => ({
    setup: { side: 'matcher', name, events },
    log,
    isAsked,
    flags,
  })
  return {
    daybook: { setup: { side: 'memory', events }, log, isAsked, flags },
    sift: matcher('sift'),
    mingo: matcher('mingo'),
  }
}

function aimsOf({ group }: QueryCase, name: Matcher, ours: number[], faster: number[]): Aim[] {
  if (events < MOST_EVENTS) return []
  if (group === 'cont') return [aimFor('atLeast', SCAN_AIMS[name], faster, undefined, 'as fast')]
  return group === 'eq' && name === 'sift' ? [aimFor('below', 0.01, ours, micro)] : []
}

function caseRows(one: QueryCase, found: Found<SideName>): Row[] {
  const ours = mediansOf(found.daybook!)
  return MATCHERS.map((name) => {
    const theirs = mediansOf(found[name]!)
    const faster = ratios(theirs, ours)
    const { version } = require(`${name}/package.json`) as { version: string }
    return rowOf({
      group: `Queries, memory, ${whole(events)} events, beside sift and mingo`,
      name: one.name,
      daybook: ours,
      reference: { name: `${name} ${version}`, figures: theirs },
      ratio: faster,
      print: micro,
      note: `p99 ${micro(p99Of(found.daybook!))}`,
      aims: aimsOf(one, name, ours, faster),
    })
  })
}

const found = await askAll(QUERY_CASES.filter(isPutTo), sidesOf(materialOf(events)), rounds, {
  questions: 2000,
  warmUp: 200,
  isKept: true,
})
tell(
  [...found].flatMap(([one, times]) => caseRows(one, times)),
  rows,
)
