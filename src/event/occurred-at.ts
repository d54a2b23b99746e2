import type { EventDraft } from './event.js'
import { formatTimestamp, type Microseconds } from './timestamp.js'

/** An event that becomes visible so much later than its call says when that was. */
const LATE: Microseconds = 1_000_000

/** The draft as it becomes visible: with `occurred_at`, where that is late and it names no time itself. */
export function withOccurredAt(
  { draft, recordedAt }: { readonly draft: EventDraft; readonly recordedAt: Microseconds },
  visibleAt: Microseconds,
): EventDraft {
  if (visibleAt - recordedAt <= LATE || Object.hasOwn(draft.attributes, 'occurred_at')) return draft
  const attributes = { ...draft.attributes, occurred_at: formatTimestamp(recordedAt) }
  return { ...draft, attributes, json: JSON.stringify(attributes) }
}
