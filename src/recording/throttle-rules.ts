import { milliseconds } from 'date-fns/milliseconds'
import { AuditLogError } from '../errors.js'
import type { Duration } from '../event/duration.js'
import type { DraftThrottle, JsonObject } from '../event/event.js'
import { type EventTypes, isPeriod } from '../event/event-types.js'
import { type JsonLimits, toJsonText } from '../event/json.js'
import { throttleKey } from '../store/throttle-state.js'
import type { Microseconds } from '../event/timestamp.js'
import { checkNamed, type OptionNames, requireOptions } from '../options.js'
import { didYouMean, nearest } from '../event/nearest.js'

/**
 * Throttle periods of the host by event type. They replace the periods of the registry; `false` removes a throttle.
 */
export type ThrottlePeriods = Readonly<Record<string, Duration | false>>

/** A throttle that a call gives. */
export interface CallThrottle {
  /** At most one event of the type and the scope is stored in each period. */
  readonly period: Duration
  /** Names and values. Each combination has a period of its own. */
  readonly scope: JsonObject
}

const CALL_THROTTLE: OptionNames<CallThrottle> = { period: true, scope: true }

/** The throttle of an event type. */
export interface TypeThrottle {
  readonly type: string
  readonly period: Microseconds
  /** Names of data keys. Each combination of their values is throttled separately. */
  readonly scope: readonly string[]
}

const MAX_SCOPE_BYTES = 2048

const toMicroseconds = (period: Duration): Microseconds => Math.round(milliseconds(period) * 1000)

/** The throttles by event type. Throws `INVALID_OPTION` for an unknown type or an invalid period. */
export function readThrottleRules(
  types: EventTypes,
  periods: ThrottlePeriods = {},
): ReadonlyMap<string, TypeThrottle> {
  checkNamed(periods, 'throttles')
  const rules = new Map<string, TypeThrottle>()
  const set = (type: string, period: Duration, scope: readonly string[] = []): void =>
    void rules.set(type, { type, period: toMicroseconds(period), scope })
  for (const [type, { throttle }] of Object.entries(types))
    if (throttle) set(type, throttle.period, throttle.scope)
  for (const [type, period] of Object.entries(periods)) {
    if (!Object.hasOwn(types, type))
      throw new AuditLogError(
        'INVALID_OPTION',
        `throttles.${type} is not in the registry of event types${didYouMean(nearest(type, Object.keys(types)))}`,
      )
    if (types[type]!.collapse !== undefined)
      throw new AuditLogError(
        'INVALID_OPTION',
        `throttles.${type}: a type with collapse has no throttle`,
      )
    if (period === false) rules.delete(type)
    else if (isPeriod(period)) set(type, period, rules.get(type)?.scope)
    else
      throw new AuditLogError(
        'INVALID_OPTION',
        `throttles.${type} must be a date-fns Duration such as { hours: 1 }, or false`,
      )
  }
  return rules
}

/** The throttle of a draft with this data. */
export function throttleOf(
  { type, period, scope }: TypeThrottle,
  data: object,
  limits: JsonLimits,
): DraftThrottle {
  if (scope.length === 0) return { key: type, scope: {}, period }
  const picked = pick(scope, data)
  const values = toJsonText(picked, limits).attributes
  const texts = scope.map((key) => JSON.stringify(values[key] ?? null))
  // Shown in gap events, so long values are cut.
  const shown = toJsonText(picked, { ...limits, maxBytes: MAX_SCOPE_BYTES }).attributes
  return { key: throttleKey(type, texts), scope: shown, period }
}

/** The throttle from the options of a call. Throws `INVALID_OPTION`. */
export function throttleOfCall(
  type: string,
  throttle: CallThrottle,
  limits: JsonLimits,
): DraftThrottle {
  requireOptions(throttle, CALL_THROTTLE, 'throttle')
  const { period, scope } = throttle
  if (!isPeriod(period))
    throw new AuditLogError(
      'INVALID_OPTION',
      'throttle.period must be a date-fns Duration such as { minutes: 1 }',
    )
  const { attributes } = toJsonText(scope, { ...limits, maxBytes: MAX_SCOPE_BYTES })
  return {
    key: throttleKey(type, [JSON.stringify(attributes)]),
    scope: attributes,
    period: toMicroseconds(period),
  }
}

/** The values of the scope's data keys; null for a throwing getter. */
function pick(scope: readonly string[], data: object): object {
  const picked = scope.map((key): [string, unknown] => {
    try {
      return [key, (data as Record<string, unknown>)[key] ?? null]
    } catch {
      return [key, null]
    }
  })
  return Object.fromEntries(picked)
}
