import { type AuditEvent, formatTimestamp, type JsonObject } from 'daybook'
import { createRandom, type Random } from '../../../benchmarks/harness/random.js'

/* A random log of 30 days, and random queries of it. One type and most values of `request_id` occur only once. */

const DAY = 86_400_000_000
const DAYS = 30
/** 2026-01-01T00:00:00Z */
const START = 1_767_225_600_000_000

export const RARE_TYPE = 'warn:certificate:expired'

const THINGS = ['projects', 'environments', 'secrets', 'policies', 'changes', 'steps', 'users']
const ACTIONS = ['create', 'update', 'destroy', 'start', 'success', 'error']
const TYPES: readonly string[] = ['api', 'audit', 'info', 'error', 'warn'].flatMap((level) =>
  THINGS.flatMap((thing) => ACTIONS.map((action) => `${level}:${thing}:${action}`)),
)
const USERS = ['ann', 'bob', 'eve', 'mira', 'Ann', ...Array.from({ length: 40 }, (_, n) => `u${n}`)]
const STATUSES = [200, 201, 204, 302, 400, 404, 409, 422, 500, 503]
const TAGS = ['red', 'green', 'blue', 'canary', 'eu', 'us']
const PROJECTS = ['acme', 'storefront', 'billing', 'infra']

/** The attributes of the facets, besides level. */
export const FACETS = ['type', 'username', 'response_status', 'request_id', 'tags'] as const

function attributesOf(random: Random, n: number): JsonObject {
  const tags = TAGS.filter(() => random.next() < 0.2)
  return {
    name: `thing ${random.mostlyLow(5000)}`,
    request_id: `r${Math.floor(n / 3)}`,
    ...(random.next() < 0.8 && { response_status: random.pick(STATUSES) }),
    ...(random.next() < 0.7 && { url_params_project_code: random.pick(PROJECTS) }),
    ...(tags.length > 0 && { tags }),
  }
}

/** Distinct times. Some are spread over all days, others are within short bursts. */
function timesOf(random: Random, size: number): number[] {
  const bursts = Array.from({ length: 20 }, () => START + random.below(DAYS * DAY - 60_000_000))
  const times = Array.from({ length: size }, () =>
    random.next() < 0.6
      ? START + random.below(DAYS * DAY)
      : random.pick(bursts) + random.below(60_000_000),
  ).toSorted((one, other) => one - other)
  for (let n = 1; n < size; n++) times[n] = Math.max(times[n]!, times[n - 1]! + 1)
  return times
}

export function randomEvents(size: number, seed: number): AuditEvent[] {
  const random = createRandom(seed)
  const rare = random.below(size)
  return timesOf(random, size).map((time, n): AuditEvent => ({
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    created_at: formatTimestamp(time),
    type: n === rare ? RARE_TYPE : random.pick(TYPES),
    username: random.next() < 0.15 ? null : random.pick(USERS),
    system: true,
    source: null,
    attributes: attributesOf(random, n),
  }))
}

/** A condition of a query, and the facet that ignores it. */
export interface RandomCondition {
  readonly facet: string
  readonly text: string
}

const timeAt = (random: Random): string =>
  formatTimestamp(START + random.below(DAYS * DAY)).slice(0, 19)

/** Bounds of the time. Most are within the time of the log. */
export function randomRange(random: Random): string {
  const ends = [timeAt(random), timeAt(random)].toSorted()
  const [from, to] = random.next() < 0.6 ? ['2026-01-01T00:00:00', '2026-01-31T01:00:00'] : ends
  return `filter[created_at_gteq]=${from}Z&filter[created_at_lt]=${to}Z`
}

const CONDITIONS: readonly ((random: Random, size: number) => RandomCondition)[] = [
  () => ({ facet: 'type', text: `filter[type_eq]=${RARE_TYPE}` }),
  (random) => ({ facet: 'type', text: `filter[type_eq]=${random.pick(TYPES)}` }),
  (random) => ({ facet: 'type', text: `filter[type_cont]=${random.pick(THINGS)}:up` }),
  (random) => ({ facet: 'level', text: `filter[type_start]=${random.pick(['error', 'api'])}:` }),
  (random) => ({ facet: 'username', text: `filter[username_eq]=${random.pick(USERS)}` }),
  (random) => ({ facet: 'username', text: `filter[username_not_eq]=${random.pick(USERS)}` }),
  () => ({ facet: 'username', text: 'filter[username_null]=1' }),
  () => ({ facet: 'username', text: 'filter[username_eq]=nobody' }),
  () => ({ facet: 'response_status', text: 'filter[response_status_gteq]=500' }),
  (random) => ({
    facet: 'response_status',
    text: `filter[response_status_eq]=${random.pick(STATUSES)}`,
  }),
  (random) => ({ facet: 'tags', text: `filter[tags_eq]=${random.pick(TAGS)}` }),
  (random) => ({ facet: 'name', text: `filter[name_end]=${random.below(100)}` }),
  (random, size) => ({
    facet: 'request_id',
    text: `filter[request_id_eq]=r${random.below(Math.ceil(size / 3))}`,
  }),
]

export interface RandomQuery {
  readonly range: string
  readonly conditions: readonly RandomCondition[]
}

/** Up to three conditions on different attributes. */
export function randomQuery(random: Random, size: number): RandomQuery {
  const wanted = random.below(4)
  const conditions: RandomCondition[] = []
  for (let n = 0; n < wanted; n++) {
    const one = CONDITIONS[random.below(CONDITIONS.length)]!(random, size)
    if (!conditions.some(({ facet }) => facet === one.facet)) conditions.push(one)
  }
  return { range: randomRange(random), conditions }
}

export const textOf = ({ range, conditions }: RandomQuery): string =>
  [range, ...conditions.map(({ text }) => text)].join('&')

/** The query without the conditions that concern the facet. */
export const withoutFacet = ({ range, conditions }: RandomQuery, facet: string): RandomQuery => ({
  range,
  conditions: conditions.filter((one) => one.facet !== facet),
})
