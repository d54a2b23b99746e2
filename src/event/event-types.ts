import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from 'date-fns'
import { AuditLogError } from '../errors.js'
import { isStorableText, jsonPointer } from './json-copy.js'
import { LINK_ATTRIBUTES, type LinkAttribute } from './links.js'

/** Allows one event per period or, with a scope, one per period for each combination of values. */
export interface ThrottleRule {
  readonly period: Duration
  /** Names of data keys. Each combination of their values has a period of its own. */
  readonly scope?: readonly string[]
  /** `false` if the interface asks for a throttle without a period. */
  readonly periodStated?: false
}

/** One event type in the registry. Everything but `enabled` is data. */
export interface EventTypeDefinition {
  /** The heading of the type in catalogues. */
  readonly area?: string
  readonly description?: string
  /** The data keys of the type, or a Standard Schema for its data. Without it any key is allowed. */
  readonly data?: readonly string[] | StandardSchemaV1
  readonly throttle?: ThrottleRule
  /** While it returns false, calls are suppressed. Reads a setting of the host, such as `log_email_events`. */
  readonly enabled?: () => boolean
  /** The name of the host's setting that `enabled` reads. */
  readonly onlyWhile?: string
  /** The event is live: its attributes change while the work is in progress. */
  readonly live?: true
  /** How often a recurring event is recorded unless the host's settings say otherwise. */
  readonly cadence?: Duration
  /**
   * The template of the sentence that describes the event:
   * `'deployed **{name}**[ to {environment}][: {error}]'`. If the event lacks a value that is outside
   * of brackets, or there is no template, Daybook makes a sentence. See `describeEvent`.
   */
  readonly sentence?: string
}

export type EventTypes = Readonly<Record<string, EventTypeDefinition>>

const COMMON_KEYS = [
  'name',
  'message',
  'parent',
  'error',
  'backtrace',
  'request_method',
  'request_path',
  'request_body',
  'request_body_cut',
  'request_id',
  'url_params',
  'response_status',
  'duration_ms',
  'remote_address',
  'trace_id',
  'span_id',
  'aborted',
  'occurred_at',
] as const

type CommonData = { readonly [K in LinkAttribute | (typeof COMMON_KEYS)[number]]?: unknown }

type ScopeKeys<D extends EventTypeDefinition> = D['throttle'] extends {
  readonly scope: readonly (infer K extends string)[]
}
  ? K
  : never

/** The data that `record` accepts for the type: its declared keys and the common ones. */
export type EventData<D extends EventTypeDefinition> = D['data'] extends readonly (infer K extends
  string)[]
  ? CommonData & { readonly [P in K | ScopeKeys<D>]?: unknown }
  : D['data'] extends StandardSchemaV1<infer Input>
    ? Input & CommonData
    : { readonly [key: string]: unknown }

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

const commonKeys: ReadonlySet<string> = new Set([...COMMON_KEYS, ...LINK_ATTRIBUTES])

const allowedByDefinition = new WeakMap<EventTypeDefinition, ReadonlySet<string>>()

/** The declared data keys and those of the throttle's scope. */
function allowedKeys(
  definition: EventTypeDefinition,
  declared: readonly string[],
): ReadonlySet<string> {
  let allowed = allowedByDefinition.get(definition)
  if (!allowed) {
    allowed = new Set([...declared, ...(definition.throttle?.scope ?? [])])
    allowedByDefinition.set(definition, allowed)
  }
  return allowed
}

/**
 * Checks data against the declaration of its type, for strict mode. Throws `INVALID_DATA` with a
 * pointer to the first undeclared key, or to the schema's first issue.
 */
export function checkData(type: string, definition: EventTypeDefinition, data: object): void {
  const declared = definition.data
  if (declared === undefined) return
  if (!('~standard' in declared)) {
    const allowed = allowedKeys(definition, declared)
    const stray = Object.keys(data).find((key) => !allowed.has(key) && !commonKeys.has(key))
    if (stray === undefined) return
    throw new AuditLogError(
      'INVALID_DATA',
      `${type} does not declare the data key ${stray}; it declares ${[...allowed].join(', ')}`,
      { pointer: jsonPointer([stray]) },
    )
  }
  const result = declared['~standard'].validate(data)
  if (result instanceof Promise) {
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
