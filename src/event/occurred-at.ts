import type { EventDraft } from './event.js'
import { formatTimestamp, type Microseconds } from './timestamp.js'

/** An event that becomes visible later than this after its call gets `occurred_at`. */
const MAX_DELAY: Microseconds = 1_000_000

/** Adds `occurred_at` if the draft becomes visible late and has no such attribute. */
export function withOccurredAt(
  { draft, recordedAt }: { readonly draft: EventDraft; readonly recordedAt: Microseconds },
  visibleAt: Microseconds,
): EventDraft {
  if (visibleAt - recordedAt <= MAX_DELAY || Object.hasOwn(draft.attributes, 'occurred_at'))
    return draft
  const attributes = { ...draft.attributes, occurred_at: formatTimestamp(recordedAt) }
  return { ...draft, attributes, json: JSON.stringify(attributes) }
}
