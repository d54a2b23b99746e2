import type { AuditEvent, EventDraft } from '../../../src/event/event.js'
import { stampLate } from '../../../src/event/late-attributes.js'
import type { AppendOptions } from '../../../src/store/store.js'
import { withSuppressed } from '../../../src/store/throttle-state.js'
import type { Appended } from './append.js'

/** The events that these drafts have become, without the suppressed ones, of which `onSuppressed` is told. */
export function appendedEvents(
  drafts: readonly EventDraft[],
  { first, exceptions }: Appended,
  onSuppressed: AppendOptions['onSuppressed'],
): readonly AuditEvent[] {
  let time = first
  if (exceptions.length === 0) return drafts.map((draft) => stampLate(draft, time++))
  const byIndex = new Map(exceptions.map((exception) => [exception.index, exception]))
  const events: AuditEvent[] = []
  for (const [index, draft] of drafts.entries()) {
    const exception = byIndex.get(index)
    if (!exception) events.push(stampLate(draft, time++))
    else if ('found' in exception) events.push(exception.found)
    else if ('opensIn' in exception) onSuppressed?.(draft, exception.opensIn)
    else events.push(stampLate(withSuppressed(draft, exception.suppressed), time++))
  }
  return events
}
