import { createHash } from 'node:crypto'
import type { DraftThrottle, EventDraft } from '../event/event.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'

/** What a store keeps of one throttle. */
export interface ThrottleState {
  /** When the last of its events was kept, by the store's clock; `undefined` where that is not known. */
  readonly keptAt: Microseconds | undefined
  /** How many calls were held back that no event has told of. */
  readonly count: number
  /** When the first and the last of these were held back. */
  readonly first: Microseconds | undefined
  readonly last: Microseconds | undefined
}

/**
 * For how long the throttle stays closed; 0 where it is open. A time before `keptAt` says that the
 * clock was set back: then nobody knows how long ago that was, and a period begins anew, from
 * `keptAt` on as it is given back.
 */
export function closedPeriod(
  keptAt: Microseconds | undefined,
  period: Microseconds,
  now: Microseconds,
): { readonly opensIn: Microseconds; readonly keptAt: Microseconds | undefined } {
  if (keptAt === undefined) return { opensIn: 0, keptAt }
  if (now < keptAt) return { opensIn: period, keptAt: now }
  return { opensIn: Math.max(0, keptAt + period - now), keptAt }
}

/** True where what was held back will be told by no further event, as far as one can see. */
export function isUnclaimed(
  { keptAt, count, last }: ThrottleState,
  period: Microseconds,
  now: Microseconds,
): boolean {
  if (count === 0) return false
  if (keptAt !== undefined && now < keptAt) return true
  const isLongOpen = keptAt === undefined || keptAt + 2 * period <= now
  return isLongOpen && (last === undefined || last + period <= now)
}

/** The draft as it is kept: with what its throttle has held back before. */
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

// Neither a type nor JSON text has one.
const SEPARATOR = '\n'

// What is longer does not go into an index.
const MAX_KEY_LENGTH = 500

/** The key of a throttle whose scope has these values, each as JSON text. */
export function throttleKey(type: string, values: readonly string[]): DraftThrottle['key'] {
  let key = type
  for (const value of values) key += SEPARATOR + value
  if (key.length <= MAX_KEY_LENGTH) return key
  return type + SEPARATOR + createHash('sha256').update(key).digest('hex')
}
