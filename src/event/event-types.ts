import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from './duration.js'
import { AuditLogError } from '../errors.js'
import { isStorableText, jsonPointer } from './json-copy.js'
import type { Outcome } from './known-attributes.js'
import type { LinkTable } from './links.js'
import { didYouMean, editDistance, nearest } from './nearest.js'
import type { PersonalRule } from './personal.js'
import { isPromise } from './realm.js'

/** Allows one event per period or, with a scope, one per period for each combination of values. */
export interface ThrottleRule {
  readonly period: Duration
  /** Names of data keys. Each combination of their values has a period of its own. */
  readonly scope?: readonly string[]
  /** `false` if the interface asks for a throttle without a period. */
  readonly periodStated?: false
}

/**
 * Makes one event of the calls of one key within a window: the first call is recorded at once, the others are counted and
 * become one event with `collapsed: true`, `count`, `first_at` and `last_at`.
 */
export interface CollapseRule {
  /** `username`, `source` and names of data keys. Calls of the type with the same values have one key. */
  readonly by: readonly string[]
  /** How long calls are counted after the first one; at most one day. */
  readonly window: Duration
}

/** Which event of the Open Cybersecurity Schema Framework (OCSF) 1.8.0 expresses an event. */
export interface OcsfMapping {
  /** The uid of an event class, such as 3004 for Entity Management. */
  readonly class: number
  /** The `activity_id` of the class. @default by the end of the type, such as 1 for `create`; else 99, other */
  readonly activity?: number
  /**
   * Values of the OCSF event by their paths, such as `{ 'entity.type': 'Policy', 'entity.name': '{name}' }`. In a text, names
   * of attributes in braces stand for their values. A value is left out if the event lacks one of these attributes.
   */
  readonly set?: Readonly<Record<string, string | number>>
}

/** One event type in the registry. Everything but `enabled` is data. */
export interface EventTypeDefinition {
  /** The heading of the type in catalogues. */
  readonly area?: string
  readonly description?: string
  /** The data keys of the type, or a Standard Schema for its data. Without it any key is allowed. */
  readonly data?: readonly string[] | StandardSchemaV1
  readonly throttle?: ThrottleRule
  /** Not together with `throttle` or `live`. */
  readonly collapse?: CollapseRule
  /** While it returns false, calls are suppressed. Reads a setting of the host, such as `log_email_events`. */
  readonly enabled?: () => boolean
  /** The name of the host's setting that `enabled` reads. Without `enabled` it has no effect. */
  readonly onlyWhile?: string
  /** The event is live: its attributes change while the work is in progress. */
  readonly live?: true
  /** How often a recurring event is recorded unless the host's settings say otherwise. */
  readonly cadence?: Duration
  /**
   * The source of system events that the link attributes do not give: an API path with the names of
   * attributes in braces, such as `/api/workflows/{workflow_id}`. It takes precedence over the link
   * attributes. An event without one of these attributes has the source of its links.
   */
  readonly source?: string
  /**
   * The template of the sentence that describes the event:
   * `'deployed **{name}**[ to {environment}][: {error}]'`. If the event lacks a value that is outside
   * of brackets, or there is no template, Daybook makes a sentence. See `describeEvent`.
   */
  readonly sentence?: string
  /**
   * The template in other languages, by BCP 47 tag: `{ de: 'hat **{name}** ausgerollt | **{name}** ausgerollt' }`.
   * `sentence` describes the event in languages that have none here.
   */
  readonly sentences?: Readonly<Record<string, string>>
  /** The OCSF event that `toOcsf` makes of a system event. Without it, `toOcsf` follows rules over the level and the end of the type. */
  readonly ocsf?: OcsfMapping
  /**
   * The severity number of OpenTelemetry, 1 to 24, which the formats of `daybook/formats` use.
   * @default by the level: 17 for `error`, 13 for `warn`, 10 for `audit`, else 9
   */
  readonly severity?: number
  /** Calls that record the type must give a reason that is not blank: the option `reason`. Others reject with `INVALID_DATA`. */
  readonly reason?: 'required'
  /**
   * The attribute `outcome` of the events of the type, unless the data has one; null leaves it out. Not together with `live`. Events of
   * requests have the outcome of their response.
   */
  readonly outcome?: Outcome
  /** Attributes about persons, which are stored encrypted if the log has the option `privacy`. Not together with `live`. */
  readonly personal?: readonly PersonalRule[]
}

export type EventTypes = Readonly<Record<string, EventTypeDefinition>>

/** Data keys that the types of all event types offer. */
const OFFERED_KEYS = [
  'name',
  'message',
  'parent',
  'error',
  'backtrace',
  'occurred_at',
  'on_behalf_of',
  'request_id',
  'trace_id',
  'outcome',
  'reason',
  'approved_by',
] as const

/** Data keys that strict mode accepts for all event types: also what the log adds to events of requests. */
const COMMON_KEYS: readonly string[] = [
  ...OFFERED_KEYS,
  'request_method',
  'request_path',
  'request_body',
  'request_body_cut',
  'request_files',
  'url_params',
  'response_status',
  'duration_ms',
  'remote_address',
  'user_agent',
  'span_id',
  'actor_id',
  'actor_kind',
  'session_id',
  'agent_session_id',
  'aborted',
  'access',
  'purpose',
  'usernames',
  'usernames_more',
  'read_ids',
  'read_ids_more',
]

/** The link attributes of a table whose names the compiler knows. */
type LinkAttribute<Links extends LinkTable> = string extends Links[number]['attribute']
  ? never
  : Links[number]['attribute']

/** The name of something that is linked, which sentences show: `change_id` -> `change_name`. */
type LinkedName<Attribute> = Attribute extends `${infer Kind}_id` ? `${Kind}_name` : never

type CommonData<Links extends LinkTable> = {
  readonly [
    K in LinkAttribute<Links> | LinkedName<LinkAttribute<Links>> | (typeof OFFERED_KEYS)[number]
  ]?: K extends 'outcome' ? Outcome | null : unknown
}

type ScopeKeys<D extends EventTypeDefinition> = D['throttle'] extends {
  readonly scope: readonly (infer K extends string)[]
}
  ? K
  : D['collapse'] extends { readonly by: readonly (infer K extends string)[] }
    ? Exclude<K, 'username' | 'source'>
    : never

/** `{removed_count:count}` -> `removed_count`; `{@thing}` names no key. */
type SentenceKey<Place extends string> = Place extends `@${string}`
  ? never
  : Place extends `${infer Key}:${string}`
    ? SentenceKey<Key>
    : Place extends `${infer Key}=${string}`
      ? Key
      : Place

/** The data keys that a sentence template shows, or that a source names. */
type SentenceKeys<Sentence> = Sentence extends `${string}{${infer Place}}${infer Rest}`
  ? SentenceKey<Place> | SentenceKeys<Rest>
  : never

/**
 * The data that `record` accepts for the type: its declared keys, the link attributes of the log with the names of what they
 * link to, such as `order_name` for `order_id`, and a few common keys. A type without `data` accepts any key; editors still suggest the keys
 * of its sentence, its source and its throttle's scope.
 */
export type EventData<
  D extends EventTypeDefinition,
  Links extends LinkTable = LinkTable,
> = D['data'] extends readonly (infer K extends string)[]
  ? CommonData<Links> & { readonly [P in K | ScopeKeys<D> | SentenceKeys<D['source']>]?: unknown }
  : D['data'] extends StandardSchemaV1<infer Input>
    ? Input & CommonData<Links>
    : CommonData<Links> & {
        readonly [P in SentenceKeys<D['sentence'] | D['source']> | ScopeKeys<D>]?: unknown
      } & { readonly [key: string]: unknown }

/** The names of the types that require a reason. */
export type ReasonedTypes<Types extends EventTypes> = {
  [K in keyof Types & string]: Types[K]['reason'] extends 'required' ? K : never
}[keyof Types & string]

/** The names of the other types. */
export type UnreasonedTypes<Types extends EventTypes> = {
  [K in keyof Types & string]: Types[K]['reason'] extends 'required' ? never : K
}[keyof Types & string]

const MAX_TYPE_LENGTH = 255
const CONTROL = /\p{Cc}/u

/** Why the value cannot be an event type, or `undefined` if it can. */
export function eventTypeFault(type: unknown): string | undefined {
  if (typeof type !== 'string') return 'must be a text'
  // The limit counts code points; a text has at most as many as it has UTF-16 units.
  const isLong = type.length > MAX_TYPE_LENGTH && [...type].length > MAX_TYPE_LENGTH
  if (type === '' || isLong) return `must have 1 to ${MAX_TYPE_LENGTH} characters`
  if (CONTROL.test(type)) return 'must not contain control characters'
  if (!isStorableText(type)) return 'must not contain half of a surrogate pair'
  return undefined
}

const UNITS = new Set(['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds'])

/** True for a date-fns Duration that is longer than 0. */
export function isPeriod(period: unknown): boolean {
  if (period === null || typeof period !== 'object') return false
  const parts = Object.entries(period)
  return (
    parts.length > 0 &&
    parts.every(([unit, count]) => UNITS.has(unit) && typeof count === 'number' && count > 0)
  )
}

/** `audit:steps:approve:denied` -> level `audit`, subject `steps`, action `approve:denied`. */
export function splitEventType(type: string): { level: string; subject: string; action: string } {
  const [level = '', subject = '', ...action] = type.split(':')
  return { level, subject, action: action.join(':') }
}

/** The data keys that strict mode accepts for all event types of a log with these links. */
export function commonKeysOf(links: LinkTable): ReadonlySet<string> {
  const attributes = links.map(({ attribute }) => attribute)
  const ids = attributes.filter((attribute) => attribute.endsWith('_id'))
  return new Set([
    ...COMMON_KEYS,
    ...attributes,
    ...ids.map((attribute) => attribute.replace(/_id$/, '_name')),
  ])
}

/** An event type, and the data keys that it accepts beside its own. */
interface AcceptedData {
  readonly type: string
  readonly definition: EventTypeDefinition
  readonly commonKeys: ReadonlySet<string>
}

const knownByDefinition = new WeakMap<EventTypeDefinition, ReadonlySet<string>>()

/** Finds the keys of {@link SentenceKeys}. */
const SENTENCE_KEY = /\{([^@}:=][^}:=]*)/g

/** The declared data keys, and the keys of the source and of the throttle's scope; without a declaration also the keys of the sentence. */
function knownKeys(definition: EventTypeDefinition): ReadonlySet<string> {
  let known = knownByDefinition.get(definition)
  if (!known) {
    const { data, throttle, collapse, sentence = '', source = '' } = definition
    const keysIn = (text: string): string[] =>
      Array.from(text.matchAll(SENTENCE_KEY), ([, key]) => key!)
    const declared = Array.isArray(data) ? (data as readonly string[]) : keysIn(sentence)
    const scope = [...(throttle?.scope ?? []), ...(collapse?.by ?? [])]
    known = new Set([...declared, ...keysIn(source), ...scope])
    knownByDefinition.set(definition, known)
  }
  return known
}

/**
 * The hints for data of a type that accepts any key: keys that differ in one letter from a known one, and
 * so are probably misspelt.
 */
export function misspeltKeys(
  { definition, commonKeys }: Omit<AcceptedData, 'type'>,
  data: object,
): readonly { readonly key: string; readonly suggestion: string }[] {
  if (definition.data !== undefined) return []
  const known = [...knownKeys(definition), ...commonKeys]
  return Object.keys(data).flatMap((key) => {
    if (known.includes(key)) return []
    const suggestion = known.find((other) => editDistance(key, other, 1) <= 1)
    return suggestion === undefined ? [] : [{ key, suggestion }]
  })
}

/**
 * Checks data against the declaration of its type, for strict mode. Throws `INVALID_DATA` with a
 * pointer to the first undeclared key, or to the schema's first issue.
 */
export function checkData({ type, definition, commonKeys }: AcceptedData, data: object): void {
  const declared = definition.data
  if (declared === undefined) return
  if (!('~standard' in declared)) {
    const known = knownKeys(definition)
    const stray = Object.keys(data).find((key) => !known.has(key) && !commonKeys.has(key))
    if (stray === undefined) return
    const suggestion = nearest(stray, [...known, ...commonKeys])
    throw new AuditLogError(
      'INVALID_DATA',
      `${type} does not declare the data key ${stray}; it declares ${[...known].join(', ')}${didYouMean(suggestion)}`,
      { pointer: jsonPointer([stray]), suggestion },
    )
  }
  const result = declared['~standard'].validate(data)
  if (isPromise(result)) {
    throw new AuditLogError(
      'INVALID_OPTION',
      `${type}: the schema of an event type must be synchronous`,
    )
  }
  const issue = result.issues?.[0]
  if (!issue) return
  const path = issue.path?.map((part) => String(typeof part === 'object' ? part.key : part)) ?? []
  throw new AuditLogError('INVALID_DATA', `${type}: ${issue.message}`, {
    pointer: jsonPointer(path),
  })
}
