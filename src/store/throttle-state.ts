import { createHash } from 'node:crypto'
import type { DraftThrottle, EventDraft } from '../event/event.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'

/** State of one throttle in a store. */
export interface ThrottleState {
  /** Time of the last stored event by the store's clock; `undefined` if unknown. */
  readonly storedAt: Microseconds | undefined
  /** Suppressed calls that no event has reported yet. */
  readonly count: number
  /** Times of the first and the last of them. */
  readonly first: Microseconds | undefined
  readonly last: Microseconds | undefined
}

/**
 * Time until the throttle opens; 0 if it is open. If `now` is before `storedAt`, the clock was set back and the
 * elapsed time is unknown. Then a new period starts from the returned `storedAt`.
 */
export function closedPeriod(
  storedAt: Microseconds | undefined,
  period: Microseconds,
  now: Microseconds,
): { readonly opensIn: Microseconds; readonly storedAt: Microseconds | undefined } {
  if (storedAt === undefined) return { opensIn: 0, storedAt }
  if (now < storedAt) return { opensIn: period, storedAt: now }
  return { opensIn: Math.max(0, storedAt + period - now), storedAt }
}

/** True if probably no further event will take the count of suppressed calls. */
export function isUnclaimed(
  { storedAt, count, last }: ThrottleState,
  period: Microseconds,
  now: Microseconds,
): boolean {
  if (count === 0) return false
  if (storedAt !== undefined && now < storedAt) return true
  const isLongOpen = storedAt === undefined || storedAt + 2 * period <= now
  return isLongOpen && (last === undefined || last + period <= now)
}

/** The draft with the calls that its throttle suppressed before, as attributes. */
export function withSuppressed(
  draft: EventDraft,
  { count, first }: Pick<ThrottleState, 'count' | 'first'>,
): EventDraft {
  if (count === 0 || first === undefined) return draft
  const attributes = {
    ...draft.attributes,
    suppressed_count: count,
    suppressed_since: formatTimestamp(first),
  }
  return { ...draft, attributes, json: JSON.stringify(attributes) }
}

// Neither a type nor JSON text contains a line break.
const SEPARATOR = '\n'

// A longer key does not fit into an index.
const MAX_KEY_LENGTH = 500

/** The key of a throttle, from the type and the values of its scope as JSON texts. */
export function throttleKey(type: string, values: readonly string[]): DraftThrottle['key'] {
  let key = type
  for (const value of values) key += SEPARATOR + value
  if (key.length <= MAX_KEY_LENGTH) return key
  return type + SEPARATOR + createHash('sha256').update(key).digest('hex')
}
