import { defineEventTypes, type EventTypeDefinition } from 'daybook'
import { workflowLinks } from 'daybook/workflow'
import { createRandom, type Random } from './random.js'

/*
 * Events such as a busy workflow service records. A seeded generator makes them, so every trial has the
 * same ones. The attributes are about 640 bytes of JSON with about 20 values; types, users and projects
 * follow Zipf's law, and each event has one or two random UUIDs. Some values are rare on purpose, at
 * positions that do not depend on the number of events: see NEEDLES and ROLLOUT_SIZE.
 */

export interface SampleEvent {
  readonly type: string
  readonly username: string
  readonly data: { readonly [key: string]: unknown }
}

/** The most frequent types, in this order. Some benchmarks query them by name. */
const FREQUENT = [
  'api:changes:create',
  'info:steps:success',
  'api:changes:update',
  'info:workflow_run:start',
  'warn:agent:retry',
  'api:projects:update',
  'error:git_remote:fetch',
  'audit:steps:approve',
  'info:image_build:success',
  'api:templates:create',
  'error:steps:start',
  'api:nodes:create',
]
const LEVELS = ['info', 'api', 'warn', 'audit', 'error']
const SUBJECTS = [
  ...['agents', 'clusters', 'images', 'mirrors', 'nodes', 'pools', 'queues', 'registries'],
  ...['replicas', 'reports', 'runs', 'schedules', 'secrets', 'services', 'settings', 'sites'],
  ...['snapshots', 'tokens', 'volumes', 'webhooks'],
]
const VERBS = ['start', 'finish', 'cancel', 'retry', 'expire', 'rotate', 'lock', 'drain', 'import']
const TYPE_COUNT = 200

const infrequent = (at: number): string =>
  `${LEVELS[(at + Math.floor(at / 180)) % 5]}:${SUBJECTS[at % 20]}:${VERBS[at % 9]}`

/** The most frequent first. */
export const TYPES: readonly string[] = [
  ...FREQUENT,
  ...Array.from({ length: TYPE_COUNT - FREQUENT.length }, (_, i) => infrequent(i)),
]

const KEYS = [
  ...['name', 'message', 'request_method', 'request_path', 'request_id', 'request_body'],
  ...['url_params', 'response_status', 'remote_ip', 'duration_ms', 'change_id', 'parent'],
  ...['step_id', 'cluster', 'worker', 'queue', 'attempt', 'stale', 'ref', 'error', 'backtrace'],
  ...['details', 'rollout'],
] as const

/** The link attributes of the events. */
export const sampleLinks = workflowLinks

/** Each type declares its keys, so that `strict` has something to check. */
export const sampleTypes: Readonly<Record<string, EventTypeDefinition>> = defineEventTypes(
  Object.fromEntries(TYPES.map((type) => [type, { data: KEYS }])),
)

const ACTIONS = ['deploy', 'rollback', 'scale', 'restart', 'patch', 'backup', 'restore', 'verify']
const KINDS = ['project', 'environment', 'asset']
const WORDS =
  'agent backlog build cluster could connection copy database deploy drained fetch image lost mirror node not primary queue ready refused remote replica retry runner secret stale step the timeout worker'.split(
    ' ',
  )

/** The cumulative shares of `count` ranks by Zipf's law. */
function zipf(count: number, exponent: number): Float64Array {
  const sums = new Float64Array(count)
  let sum = 0
  for (let rank = 0; rank < count; rank++) sums[rank] = sum += (rank + 1) ** -exponent
  return sums.map((value) => value / sum)
}

const TYPE_RANKS = zipf(TYPE_COUNT, 1.1)
const USER_RANKS = zipf(100, 1)
const PROJECT_RANKS = zipf(300, 0.9)

function rankOf(share: number, sums: Float64Array): number {
  let [low, high] = [0, sums.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sums[middle]! < share) low = middle + 1
    else high = middle
  }
  return low
}

/** The number of needle tickets, and of needle words in messages. Each occurs in 3 of the first million events. */
export const NEEDLES = 100
const NEEDLE_PERIOD = 333_333
const NEEDLE_STEP = 3333

/** The number of the needle at this position, or `undefined`. The first needle is at `offset`. */
function needleAt(at: number, offset: number): number | undefined {
  const number = ((at % NEEDLE_PERIOD) - offset) / NEEDLE_STEP
  return Number.isInteger(number) && number >= 0 && number < NEEDLES ? number : undefined
}

const TICKET_OFFSET = 1111
const WORD_OFFSET = 2222

/** The number of needles of each kind in the first `events` events. */
export const needlesIn = (events: number): number =>
  Math.min(NEEDLES, Math.floor((events - 1 - WORD_OFFSET) / NEEDLE_STEP) + 1)

export const needleTicket = (number: number): string => `TCK-NEEDLE-${number}`
/** No other word has this prefix. */
export const needleWord = (number: number): string => `zephyr${String(number).padStart(3, '0')}`

/** The number of consecutive events that belong to one rollout; 1 % of them name it. */
export const ROLLOUT_SIZE = 5000
export const rolloutOf = (at: number): string => `rollout-${Math.floor(at / ROLLOUT_SIZE)}`

type Data = Record<string, unknown>

const words = (random: Random, count: number): string => {
  let text = WORDS[random.below(WORDS.length)]!
  for (let i = 1; i < count; i++) text += ` ${WORDS[random.below(WORDS.length)]!}`
  return text
}

function requestData(random: Random, type: string): Data {
  const project = `project-${rankOf(random.next(), PROJECT_RANKS)}`
  const environment = `environment-${random.below(8)}`
  return {
    name: `${random.pick(ACTIONS)} of ${project}`,
    request_method: type.endsWith('update') ? 'PATCH' : 'POST',
    request_path: `/api/projects/${project}/environments/${environment}/${type.split(':')[1]}`,
    request_id: random.uuid(),
    request_body: {
      action: random.pick(ACTIONS),
      reason: words(random, 8),
      parameters: { count: random.below(50), force: random.next() < 0.1, ref: random.hex(40) },
      labels: [random.pick(WORDS), random.pick(WORDS)],
    },
    url_params: { project_code: project, environment_code: environment },
    response_status: random.next() < 0.9 ? 201 : 204,
    remote_ip: `10.${random.below(4)}.${random.below(256)}.${random.below(256)}`,
    duration_ms: Math.round(random.next() ** 2 * 6e5) / 10,
    change_id: random.uuid(),
    parent: { code: `asset-${random.below(5000)}`, node_type: random.pick(KINDS) },
  }
}

function workData(random: Random, type: string): Data {
  const isError = type.startsWith('error')
  const data: Data = {
    name: `${random.pick(ACTIONS)}-${random.below(100_000)}`,
    message: words(random, isError ? 9 : 24),
    step_id: random.uuid(),
    change_id: random.uuid(),
    cluster: { name: `cluster-${random.below(6)}`, region: random.pick(['north', 'south']) },
    worker: {
      host: `runner-${random.below(64)}.example.net`,
      pid: random.below(32_768),
      memory: random.below(2e9),
    },
    queue: { name: `queue-${random.below(10)}`, depth: random.mostlyLow(1000) },
    attempt: 1 + random.mostlyLow(5),
    stale: random.next() < 0.05,
    duration_ms: Math.round(random.next() ** 2 * 6e5) / 10,
    ref: random.hex(40),
    parent: { code: `asset-${random.below(5000)}`, node_type: random.pick(KINDS) },
  }
  if (!isError) return data
  data['error'] = `RuntimeError: ${words(random, 6)}`
  data['backtrace'] = [1, 2, 3].map(() => `lib/${random.pick(WORDS)}.rb:${random.below(900)}`)
  return data
}

function addRare(random: Random, data: Data, at: number): void {
  if (random.next() < 0.005) data['details'] = { ticket: `TCK-${random.below(1e6)}` }
  if (random.next() < 0.01) data['rollout'] = { id: rolloutOf(at) }
  const ticket = needleAt(at, TICKET_OFFSET)
  if (ticket !== undefined) data['details'] = { ticket: needleTicket(ticket) }
  const word = needleAt(at, WORD_OFFSET)
  if (word !== undefined) data['message'] = `${words(random, 4)} ${needleWord(word)}`
}

/** Returns the next event at each call; the first is at the position `from`. */
export function createSampler(seed = 1, from = 0): () => SampleEvent {
  const random = createRandom(seed)
  let at = from
  return () => {
    const type = TYPES[rankOf(random.next(), TYPE_RANKS)]!
    const isRequest = type.startsWith('api') || type.startsWith('audit')
    const data = isRequest ? requestData(random, type) : workData(random, type)
    addRare(random, data, at++)
    return { type, username: `user${rankOf(random.next(), USER_RANKS)}`, data }
  }
}

export function sampleEvents(count: number, seed = 1): SampleEvent[] {
  const next = createSampler(seed)
  return Array.from({ length: count }, next)
}

/** An endless supply of the given items, over and over; returns the next `count` of them. */
export function cycle<Item>(items: readonly Item[]): (count: number) => Item[] {
  let next = 0
  return (count) => Array.from({ length: count }, () => items[next++ % items.length]!)
}

/** Records the events concurrently; resolves when all are durable. */
export const recordAll = <Event>(
  audit: { record(type: string, data: SampleEvent['data'], options: object): Promise<Event> },
  events: readonly SampleEvent[],
): Promise<Event[]> =>
  Promise.all(events.map(({ type, data, username }) => audit.record(type, data, { username })))

const FILLED_AT_ONCE = 1000

/** Records this many sample events. */
export async function fillLog(
  audit: Parameters<typeof recordAll>[0],
  count: number,
): Promise<void> {
  const events = sampleEvents(count)
  for (let at = 0; at < count; at += FILLED_AT_ONCE)
    await recordAll(audit, events.slice(at, at + FILLED_AT_ONCE))
}
