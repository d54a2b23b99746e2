import type { Ask, Term } from './query.js'
import { needlesIn, needleTicket, needleWord, rolloutOf, STRETCH, TYPES } from './sample-events.js'
import type { Sample } from '../targets/log-process.js'
import { createRandom, type Random } from './random.js'

/* What is asked of a log. No value is asked for twice in a row, so that nobody's memory of it is measured. */

/** What a query may be made of. */
export interface Material {
  readonly events: number
  readonly samples: readonly Sample[]
}

interface Picker extends Material {
  readonly random: Random
}

/** Which aims a case has: those of its group. */
export type CaseGroup = 'eq' | 'common' | 'hard' | 'cont'

export interface QueryCase {
  readonly name: string
  readonly group: CaseGroup
  /** The attribute whose index serves it best when SQL is written by hand. */
  readonly ideal?: readonly string[]
  ask(picker: Picker): Ask
}

const TICKET = ['details', 'ticket']
const MEMORY = ['worker', 'memory']
const NODE_TYPE = ['parent', 'node_type']
const TYPE = ['type']
const CHANGE = ['change_id']

const sampleOf = ({ random, samples }: Picker): Sample => samples[random.below(samples.length)]!

const changeOf = (picker: Picker): string => sampleOf(picker).data['change_id'] as string
/** Only requests have one. */
const requestOf = (picker: Picker): string =>
  (sampleOf(picker).data['request_id'] as string | undefined) ?? picker.random.uuid()

/** One from the older half. */
const oldTime = ({ random, samples }: Picker): number =>
  samples[random.below(Math.max(1, samples.length >> 1))]!.createdAt

const all = (limit: number, ...terms: readonly Term[]): Ask => ({ combinator: 'and', terms, limit })
const is = (path: readonly string[], value: string): Term => ({ path, comparison: 'eq', value })

const needle = ({ random, events }: Picker): Term =>
  is(TICKET, needleTicket(random.below(Math.max(1, needlesIn(events)))))
const frequentType = ({ random }: Picker): Term => is(TYPE, TYPES[random.below(5)]!)
const beforeOld = (picker: Picker): Term => ({
  path: ['created_at'],
  comparison: 'lt',
  value: oldTime(picker),
})

const sorted = (direction: 'asc' | 'desc', isPresent: boolean) => (): Ask => ({
  ...all(10, ...(isPresent ? [{ path: MEMORY, comparison: 'not_null' } as const] : [])),
  sort: { path: MEMORY, direction },
})

export const QUERY_CASES: readonly QueryCase[] = [
  {
    name: 'eq, nested attribute: 3 in a million',
    group: 'eq',
    ideal: TICKET,
    ask: (picker) => all(10, needle(picker)),
  },
  {
    name: 'eq, a UUID: one event',
    group: 'eq',
    ideal: CHANGE,
    ask: (picker) => all(10, is(CHANGE, changeOf(picker))),
  },
  {
    name: 'eq, in one old stretch only',
    group: 'eq',
    ideal: ['rollout', 'id'],
    ask: ({ random, events }) =>
      all(
        10,
        is(['rollout', 'id'], rolloutOf(random.below(Math.max(1, events / 2 / STRETCH)) * STRETCH)),
      ),
  },
  {
    name: 'eq, a UUID: no match',
    group: 'eq',
    ideal: CHANGE,
    ask: ({ random }) => all(10, is(CHANGE, random.uuid())),
  },
  {
    name: 'eq, nested attribute: no match',
    group: 'eq',
    ideal: TICKET,
    ask: ({ random }) => all(10, is(TICKET, `TCK-${random.below(1e6)}-x`)),
  },
  {
    name: 'eq, an attribute that no event has',
    group: 'eq',
    ask: ({ random }) => all(10, is(['approval', `step${random.below(1000)}`], 'given')),
  },
  {
    name: 'eq of a common value, and of one without a match',
    group: 'eq',
    ideal: CHANGE,
    ask: ({ random }) => all(10, is(NODE_TYPE, 'project'), is(CHANGE, random.uuid())),
  },
  { name: 'newest 10', group: 'common', ideal: ['created_at'], ask: () => all(10) },
  {
    name: 'eq, a frequent type, newest 10',
    group: 'common',
    ideal: TYPE,
    ask: (picker) => all(10, frequentType(picker)),
  },
  {
    name: 'the same, newest 100',
    group: 'common',
    ideal: TYPE,
    ask: (picker) => all(100, frequentType(picker)),
  },
  {
    name: 'eq, a rare type, newest 10',
    group: 'common',
    ideal: TYPE,
    ask: ({ random }) => all(10, is(TYPE, TYPES[120 + random.below(80)]!)),
  },
  {
    name: 'eq, a frequent user, newest 10',
    group: 'common',
    ideal: ['username'],
    ask: ({ random }) => all(10, is(['username'], `user${random.below(5)}`)),
  },
  {
    name: 'eq, a common nested value, newest 10',
    group: 'common',
    ideal: NODE_TYPE,
    ask: ({ random }) =>
      all(10, is(NODE_TYPE, ['project', 'environment', 'asset'][random.below(3)]!)),
  },
  {
    name: 'not_eq, newest 10',
    group: 'common',
    ideal: ['created_at'],
    ask: ({ random }) =>
      all(10, {
        path: NODE_TYPE,
        comparison: 'not_eq',
        value: ['project', 'environment', 'asset'][random.below(3)]!,
      }),
  },
  {
    name: 'null, newest 10',
    group: 'common',
    ideal: ['created_at'],
    ask: () => all(10, { path: ['error'], comparison: 'null' }),
  },
  {
    name: 'deep page',
    group: 'common',
    ideal: ['created_at'],
    ask: (picker) => all(10, beforeOld(picker)),
  },
  {
    name: 'deep page of a frequent type',
    group: 'common',
    ideal: TYPE,
    ask: (picker) => all(10, frequentType(picker), beforeOld(picker)),
  },
  {
    name: 'start',
    group: 'hard',
    ask: ({ random }) =>
      all(10, { path: ['name'], comparison: 'start', value: `VERIFY-${10 + random.below(90)}` }),
  },
  {
    name: 'or of two attributes',
    group: 'hard',
    ask: (picker) => ({
      ...all(10, needle(picker), is(['request_id'], requestOf(picker))),
      combinator: 'or',
    }),
  },
  { name: 'sort by a nested number, ascending', group: 'hard', ask: sorted('asc', false) },
  { name: 'the same, with not_null', group: 'hard', ask: sorted('asc', true) },
  {
    name: 'sort by a nested number, descending, with not_null',
    group: 'hard',
    ask: sorted('desc', true),
  },
  {
    name: 'gt, a nested number: 1 in 200,000',
    group: 'hard',
    ideal: MEMORY,
    ask: ({ random }) =>
      all(10, { path: MEMORY, comparison: 'gt', value: 2e9 - 10_000 + random.below(100) }),
  },
  {
    name: 'and of three attributes',
    group: 'hard',
    ask: ({ random }) =>
      all(
        10,
        is(['cluster', 'name'], `cluster-${random.below(6)}`),
        is(['worker', 'host'], `runner-${random.below(64)}.example.net`),
        is(['queue', 'name'], `queue-${random.below(10)}`),
      ),
  },
  {
    name: 'and of three attributes, rare together',
    group: 'hard',
    ask: ({ random }) =>
      all(
        10,
        is(TYPE, TYPES[20 + random.below(100)]!),
        is(['parent', 'code'], `asset-${random.below(5000)}`),
        is(NODE_TYPE, 'asset'),
      ),
  },
  {
    name: 'not_null, an attribute that 1 in 200 has',
    group: 'hard',
    ideal: TICKET,
    ask: (picker) => all(10, { path: TICKET, comparison: 'not_null' }, beforeOld(picker)),
  },
  {
    name: 'cont: 3 in a million',
    group: 'cont',
    ask: ({ random, events }) =>
      all(10, {
        path: ['message'],
        comparison: 'cont',
        value: needleWord(random.below(Math.max(1, needlesIn(events)))),
      }),
  },
]

/** So many questions of one case, the same for all who are asked. */
export function asksOf(one: QueryCase, material: Material, count: number, seed: number): Ask[] {
  const picker = { ...material, random: createRandom(seed) }
  return Array.from({ length: count }, () => one.ask(picker))
}
