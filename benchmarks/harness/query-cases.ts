import type { Condition, Query } from './query.js'
import {
  needlesIn,
  needleTicket,
  needleWord,
  rolloutOf,
  ROLLOUT_SIZE,
  TYPES,
  type SampleEvent,
} from './sample-events.js'
import { createRandom, type Random } from './random.js'

/* The queries of the benchmarks. Every query asks for another value, so that no cached result is measured. */

/** An event whose values queries may ask for. */
export interface Sample {
  /** Microseconds. */
  readonly createdAt: number
  readonly data: SampleEvent['data']
}

/** What queries on a log are made of. */
export interface Material {
  readonly events: number
  readonly samples: readonly Sample[]
}

interface Picker extends Material {
  readonly random: Random
}

/** Cases of a group have the same goals. */
export type CaseGroup = 'eq' | 'common' | 'hard' | 'cont'

export interface QueryCase {
  readonly name: string
  readonly group: CaseGroup
  /** The attribute whose index suits handwritten SQL best. */
  readonly ideal?: readonly string[]
  query(picker: Picker): Query
}

const TICKET = ['details', 'ticket']
const MEMORY = ['worker', 'memory']
const NODE_TYPE = ['parent', 'node_type']
const TYPE = ['type']
const CHANGE = ['change_id']

const sampleOf = ({ random, samples }: Picker): Sample => samples[random.below(samples.length)]!

const changeOf = (picker: Picker): string => sampleOf(picker).data['change_id'] as string
/** Only events of requests have a request id. */
const requestOf = (picker: Picker): string =>
  (sampleOf(picker).data['request_id'] as string | undefined) ?? picker.random.uuid()

/** A time from the older half of the log. */
const oldTime = ({ random, samples }: Picker): number =>
  samples[random.below(Math.max(1, samples.length >> 1))]!.createdAt

const allOf = (limit: number, ...conditions: readonly Condition[]): Query => ({
  combinator: 'and',
  conditions,
  limit,
})
const is = (path: readonly string[], value: string): Condition => ({ path, predicate: 'eq', value })

const needle = ({ random, events }: Picker): Condition =>
  is(TICKET, needleTicket(random.below(Math.max(1, needlesIn(events)))))
const frequentType = ({ random }: Picker): Condition => is(TYPE, TYPES[random.below(5)]!)
const beforeOldTime = (picker: Picker): Condition => ({
  path: ['created_at'],
  predicate: 'lt',
  value: oldTime(picker),
})

const sorted = (direction: 'asc' | 'desc', isPresent: boolean) => (): Query => ({
  ...allOf(10, ...(isPresent ? [{ path: MEMORY, predicate: 'not_null' } as const] : [])),
  sort: { path: MEMORY, direction },
})

export const QUERY_CASES: readonly QueryCase[] = [
  {
    name: 'eq, nested attribute: 3 in a million',
    group: 'eq',
    ideal: TICKET,
    query: (picker) => allOf(10, needle(picker)),
  },
  {
    name: 'eq, a UUID: one event',
    group: 'eq',
    ideal: CHANGE,
    query: (picker) => allOf(10, is(CHANGE, changeOf(picker))),
  },
  {
    name: 'eq, values of one old range only',
    group: 'eq',
    ideal: ['rollout', 'id'],
    query: ({ random, events }) =>
      allOf(
        10,
        is(
          ['rollout', 'id'],
          rolloutOf(random.below(Math.max(1, events / 2 / ROLLOUT_SIZE)) * ROLLOUT_SIZE),
        ),
      ),
  },
  {
    name: 'eq, a UUID: no match',
    group: 'eq',
    ideal: CHANGE,
    query: ({ random }) => allOf(10, is(CHANGE, random.uuid())),
  },
  {
    name: 'eq, nested attribute: no match',
    group: 'eq',
    ideal: TICKET,
    query: ({ random }) => allOf(10, is(TICKET, `TCK-${random.below(1e6)}-x`)),
  },
  {
    name: 'eq, an attribute that no event has',
    group: 'eq',
    query: ({ random }) => allOf(10, is(['approval', `step${random.below(1000)}`], 'given')),
  },
  {
    name: 'eq of a common value and of one without a match',
    group: 'eq',
    ideal: CHANGE,
    query: ({ random }) => allOf(10, is(NODE_TYPE, 'project'), is(CHANGE, random.uuid())),
  },
  { name: 'newest 10', group: 'common', ideal: ['created_at'], query: () => allOf(10) },
  {
    name: 'eq, a frequent type, newest 10',
    group: 'common',
    ideal: TYPE,
    query: (picker) => allOf(10, frequentType(picker)),
  },
  {
    name: 'eq, a frequent type, newest 100',
    group: 'common',
    ideal: TYPE,
    query: (picker) => allOf(100, frequentType(picker)),
  },
  {
    name: 'eq, a rare type, newest 10',
    group: 'common',
    ideal: TYPE,
    query: ({ random }) => allOf(10, is(TYPE, TYPES[120 + random.below(80)]!)),
  },
  {
    name: 'eq, a frequent user, newest 10',
    group: 'common',
    ideal: ['username'],
    query: ({ random }) => allOf(10, is(['username'], `user${random.below(5)}`)),
  },
  {
    name: 'eq, a common nested value, newest 10',
    group: 'common',
    ideal: NODE_TYPE,
    query: ({ random }) =>
      allOf(10, is(NODE_TYPE, ['project', 'environment', 'asset'][random.below(3)]!)),
  },
  {
    name: 'not_eq, newest 10',
    group: 'common',
    ideal: ['created_at'],
    query: ({ random }) =>
      allOf(10, {
        path: NODE_TYPE,
        predicate: 'not_eq',
        value: ['project', 'environment', 'asset'][random.below(3)]!,
      }),
  },
  {
    name: 'null, newest 10',
    group: 'common',
    ideal: ['created_at'],
    query: () => allOf(10, { path: ['error'], predicate: 'null' }),
  },
  {
    name: 'deep page',
    group: 'common',
    ideal: ['created_at'],
    query: (picker) => allOf(10, beforeOldTime(picker)),
  },
  {
    name: 'deep page of a frequent type',
    group: 'common',
    ideal: TYPE,
    query: (picker) => allOf(10, frequentType(picker), beforeOldTime(picker)),
  },
  {
    name: 'start',
    group: 'hard',
    query: ({ random }) =>
      allOf(10, { path: ['name'], predicate: 'start', value: `VERIFY-${10 + random.below(90)}` }),
  },
  {
    name: 'or over two attributes',
    group: 'hard',
    query: (picker) => ({
      ...allOf(10, needle(picker), is(['request_id'], requestOf(picker))),
      combinator: 'or',
    }),
  },
  { name: 'sort by a nested number, ascending', group: 'hard', query: sorted('asc', false) },
  {
    name: 'sort by a nested number, ascending, with not_null',
    group: 'hard',
    query: sorted('asc', true),
  },
  {
    name: 'sort by a nested number, descending, with not_null',
    group: 'hard',
    query: sorted('desc', true),
  },
  {
    name: 'gt, a nested number: 1 in 200,000',
    group: 'hard',
    ideal: MEMORY,
    query: ({ random }) =>
      allOf(10, { path: MEMORY, predicate: 'gt', value: 2e9 - 10_000 + random.below(100) }),
  },
  {
    name: 'and over three attributes',
    group: 'hard',
    query: ({ random }) =>
      allOf(
        10,
        is(['cluster', 'name'], `cluster-${random.below(6)}`),
        is(['worker', 'host'], `runner-${random.below(64)}.example.net`),
        is(['queue', 'name'], `queue-${random.below(10)}`),
      ),
  },
  {
    name: 'and over three attributes, a rare combination',
    group: 'hard',
    query: ({ random }) =>
      allOf(
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
    query: (picker) => allOf(10, { path: TICKET, predicate: 'not_null' }, beforeOldTime(picker)),
  },
  {
    name: 'cont: 3 in a million',
    group: 'cont',
    query: ({ random, events }) =>
      allOf(10, {
        path: ['message'],
        predicate: 'cont',
        value: needleWord(random.below(Math.max(1, needlesIn(events)))),
      }),
  },
]

/** The same queries for the same arguments. */
export function queriesOf(
  one: QueryCase,
  material: Material,
  count: number,
  seed: number,
): Query[] {
  const picker = { ...material, random: createRandom(seed) }
  return Array.from({ length: count }, () => one.query(picker))
}
