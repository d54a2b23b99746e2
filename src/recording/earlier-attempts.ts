import type { AuditEvent, EventDraft } from '../event/event.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'

/** What attempts of other calls may have had kept of a draft; it is looked for by its tail. */
export interface EarlierAttempts {
  /** It is later than this. */
  readonly since: Microseconds
  /** What is not later than this is no news. */
  readonly until: Microseconds
}

interface Tried {
  readonly earlier: EarlierAttempts | undefined
}

/** From when on a batch has to be looked for; `undefined` where none of it was tried before. */
export function searchedSince(batch: readonly Tried[]): Microseconds | undefined {
  let since: Microseconds | undefined
  for (const { earlier } of batch)
    if (earlier && (since === undefined || earlier.since < since)) since = earlier.since
  return since
}

/** The events of a batch but for those that have been told of before. */
export function newsOf(
  events: readonly AuditEvent[],
  batch: readonly Tried[],
): readonly AuditEvent[] {
  if (!batch.some(({ earlier }) => earlier)) return events
  return events.filter(({ created_at }, i) => {
    const { earlier } = batch[i]!
    return !earlier || parseTimestamp(created_at)! > earlier.until
  })
}

/** Calls that were repeated while the store was away may have been journalled as often. */
export function onceEach(drafts: readonly EventDraft[]): readonly EventDraft[] {
  const tails = new Set<string>()
  return drafts.filter(({ tail }) => tails.size < tails.add(tail).size)
}
