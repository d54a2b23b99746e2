import type { AuditEvent, EventDraft } from '../event/event.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'

/** Other calls may have stored the same draft before: the store looks for its suffix. */
export interface EarlierAttempts {
  /** They stored it later than this, if at all. */
  readonly since: Microseconds
  /** An event that is not later than this was reported as stored before. */
  readonly until: Microseconds
}

interface Attempted {
  readonly earlier: EarlierAttempts | undefined
}

/** The time after which a batch may have been stored before; `undefined` if none of it was tried. */
export function searchStart(batch: readonly Attempted[]): Microseconds | undefined {
  let since: Microseconds | undefined
  for (const { earlier } of batch)
    if (earlier && (since === undefined || earlier.since < since)) since = earlier.since
  return since
}

/** The events of a batch that have not been reported as stored before. */
export function newEvents(
  events: readonly AuditEvent[],
  batch: readonly Attempted[],
): readonly AuditEvent[] {
  if (!batch.some(({ earlier }) => earlier)) return events
  return events.filter(({ created_at }, i) => {
    const { earlier } = batch[i]!
    return !earlier || parseTimestamp(created_at)! > earlier.until
  })
}

/**
 * The drafts without duplicates, which have the same suffix. If a call with an idempotency key is
 * repeated while the store is down, the journal holds the same draft several times.
 */
export function uniqueDrafts(drafts: readonly EventDraft[]): readonly EventDraft[] {
  const suffixes = new Set<string>()
  return drafts.filter(({ suffix }) => suffixes.size < suffixes.add(suffix).size)
}
