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
const CREATED = ['created_at']
const ROLLOUT = ['rollout', 'id']

const sampleOf = ({ random, samples }: Picker): Sample => samples[random.below(samples.length)]!

const changeOf = (picker: Picker): string => sampleOf(picker).data['change_id'] as string
/** Only events of requests have a request id. */
const requestOf = (picker: Picker): string =>
  (sampleOf(picker).data['request_id'] as string | undefined) ?? picker.random.uuid()

const is = (path: readonly string[], value: string): Condition => ({ path, predicate: 'eq', value })

const needle = ({ random, events }: Picker): Condition =>
  is(TICKET, needleTicket(random.below(Math.max(1, needlesIn(events)))))
const oldRollout = ({ random, events }: Picker): Condition =>
  is(ROLLOUT, rolloutOf(random.below(Math.max(1, events / 2 / ROLLOUT_SIZE)) * ROLLOUT_SIZE))
const frequentType = ({ random }: Picker): Condition => is(TYPE, TYPES[random.below(5)]!)
const nodeType = ({ random }: Picker): string =>
  ['project', 'environment', 'asset'][random.below(3)]!
/** A time from the older half of the log. */
const beforeOldTime = ({ random, samples }: Picker): Condition => ({
  path: CREATED,
  predicate: 'lt',
  value: samples[random.below(Math.max(1, samples.length >> 1))]!.createdAt,
})

type Conditions = (picker: Picker) => readonly Condition[]

/** A case of pages of 10 events. */
const page = (
  group: CaseGroup,
  name: string,
  ideal: readonly string[] | undefined,
  conditions: Conditions,
): QueryCase => ({
  group,
  name,
  ...(ideal && { ideal }),
  query: (picker) => ({ combinator: 'and', conditions: conditions(picker), limit: 10 }),
})

/** The same with other members of the query. */
const but = (one: QueryCase, changed: Partial<Query>): QueryCase => ({
  ...one,
  query: (picker) => ({ ...one.query(picker), ...changed }),
})

const sorted = (name: string, direction: 'asc' | 'desc', conditions: readonly Condition[]) =>
  but(
    page('hard', `sort by a nested number, ${name}`, undefined, () => conditions),
    { sort: { path: MEMORY, direction } },
  )
const HAS_MEMORY: Condition = { path: MEMORY, predicate: 'not_null' }

export const QUERY_CASES: readonly QueryCase[] = [
  page('eq', 'eq, nested attribute: 3 in a million', TICKET, (picker) => [needle(picker)]),
  page('eq', 'eq, a UUID: one event', CHANGE, (picker) => [is(CHANGE, changeOf(picker))]),
  page('eq', 'eq, values of one old range only', ROLLOUT, (picker) => [oldRollout(picker)]),
  page('eq', 'eq, a UUID: no match', CHANGE, ({ random }) => [is(CHANGE, random.uuid())]),
  page('eq', 'eq, nested attribute: no match', TICKET, ({ random }) => [
    is(TICKET, `TCK-${random.below(1e6)}-x`),
  ]),
  page('eq', 'eq, an attribute that no event has', undefined, ({ random }) => [
    is(['approval', `step${random.below(1000)}`], 'given'),
  ]),
  page('eq', 'eq of a common value and of one without a match', CHANGE, ({ random }) => [
    is(NODE_TYPE, 'project'),
    is(CHANGE, random.uuid()),
  ]),
  page('common', 'newest 10', CREATED, () => []),
  page('common', 'eq, a frequent type, newest 10', TYPE, (picker) => [frequentType(picker)]),
  but(
    page('common', 'eq, a frequent type, newest 100', TYPE, (picker) => [frequentType(picker)]),
    { limit: 100 },
  ),
  page('common', 'eq, a rare type, newest 10', TYPE, ({ random }) => [
    is(TYPE, TYPES[120 + random.below(80)]!),
  ]),
  page('common', 'eq, a frequent user, newest 10', ['username'], ({ random }) => [
    is(['username'], `user${random.below(5)}`),
  ]),
  page('common', 'eq, a common nested value, newest 10', NODE_TYPE, (picker) => [
    is(NODE_TYPE, nodeType(picker)),
  ]),
  page('common', 'not_eq, newest 10', CREATED, (picker) => [
    { path: NODE_TYPE, predicate: 'not_eq', value: nodeType(picker) },
  ]),
  page('common', 'null, newest 10', CREATED, () => [{ path: ['error'], predicate: 'null' }]),
  page('common', 'deep page', CREATED, (picker) => [beforeOldTime(picker)]),
  page('common', 'deep page of a frequent type', TYPE, (picker) => [
    frequentType(picker),
    beforeOldTime(picker),
  ]),
  page('hard', 'start', undefined, ({ random }) => [
    { path: ['name'], predicate: 'start', value: `VERIFY-${10 + random.below(90)}` },
  ]),
  but(
    page('hard', 'or over two attributes', undefined, (picker) => [
      needle(picker),
      is(['request_id'], requestOf(picker)),
    ]),
    { combinator: 'or' },
  ),
  sorted('ascending', 'asc', []),
  sorted('ascending, with not_null', 'asc', [HAS_MEMORY]),
  sorted('descending, with not_null', 'desc', [HAS_MEMORY]),
  page('hard', 'gt, a nested number: 1 in 200,000', MEMORY, ({ random }) => [
    { path: MEMORY, predicate: 'gt', value: 2e9 - 10_000 + random.below(100) },
  ]),
  page('hard', 'and over three attributes', undefined, ({ random }) => [
    is(['cluster', 'name'], `cluster-${random.below(6)}`),
    is(['worker', 'host'], `runner-${random.below(64)}.example.net`),
    is(['queue', 'name'], `queue-${random.below(10)}`),
  ]),
  page('hard', 'and over three attributes, a rare combination', undefined, ({ random }) => [
    is(TYPE, TYPES[20 + random.below(100)]!),
    is(['parent', 'code'], `asset-${random.below(5000)}`),
    is(NODE_TYPE, 'asset'),
  ]),
  page('hard', 'not_null, an attribute that 1 in 200 has', TICKET, (picker) => [
    { path: TICKET, predicate: 'not_null' },
    beforeOldTime(picker),
  ]),
  page('cont', 'cont: 3 in a million', undefined, ({ random, events }) => [
    {
      path: ['message'],
      predicate: 'cont',
      value: needleWord(random.below(Math.max(1, needlesIn(events)))),
    },
  ]),
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
