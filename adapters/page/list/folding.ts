import { computed, effect, signal, untracked } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import { openId } from '../data/address.js'
import { sentenceOf } from '../ui/sentence.js'
import { activeId, folded } from './layout.js'
import { loadedEvents } from './loading.js'
import type { Twins } from './positions.js'

/*
 * Some actions, such as an approval, leave two events with the same sentence: `api:steps:approve` of the request, and
 * `audit:steps:approve`. One row shows both until one of them is opened or gets the focus.
 */

/** The ids of events that have separate rows again. */
const unfolded = signal<ReadonlySet<string>>(new Set())

/** Largest distance of the two events in rows. Other events may be between them. */
const MAX_ROWS_APART = 4

const MAX_MS_APART = 2000

const AUDIT = 'audit:'

function isTwin(event: AuditEvent, other: AuditEvent): boolean {
  const [request, otherRequest] = [event.attributes['request_id'], other.attributes['request_id']]
  return (
    other.type === `api:${event.type.slice(AUDIT.length)}` &&
    other.username === event.username &&
    other.source === event.source &&
    (request === undefined || otherRequest === undefined || request === otherRequest) &&
    Math.abs(Date.parse(event.created_at) - Date.parse(other.created_at)) <= MAX_MS_APART &&
    JSON.stringify(sentenceOf(event)) === JSON.stringify(sentenceOf(other))
  )
}

function twinsIn(events: readonly AuditEvent[], apart: ReadonlySet<string>): Twins {
  const twins = new Map<string, AuditEvent>()
  const taken = new Set<AuditEvent>()
  for (const [at, event] of events.entries()) {
    if (!event.type.startsWith(AUDIT) || apart.has(event.id)) continue
    const twin = events
      .slice(Math.max(0, at - MAX_ROWS_APART), at + MAX_ROWS_APART + 1)
      .find((other) => !taken.has(other) && isTwin(event, other))
    if (!twin) continue
    taken.add(twin)
    twins.set(event.id, twin)
  }
  return twins
}

const twins = computed(() => twinsIn(loadedEvents.value, unfolded.value))

/** The pairs to show as two rows, because one of their events is open, or the hidden event has the focus. */
function pairsInUse(): string[] {
  return [...twins.value].flatMap(([id, twin]) =>
    openId.value === id || openId.value === twin.id || activeId.value === twin.id ? [id] : [],
  )
}

/** Begins to fold rows. */
export function foldRows(): void {
  effect(() => {
    const ids = pairsInUse()
    if (ids.length > 0) untracked(() => (unfolded.value = new Set([...unfolded.value, ...ids])))
  })
  folded.value = twins
}
