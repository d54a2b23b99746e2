import { type AuditEvent, type EventDraft, stampDraft } from '../../../src/event/event.js'
import { withOccurredAt } from '../../../src/event/occurred-at.js'
import type { SuppressedCount } from '../../../src/store/store.js'
import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import { type OutboxDraft, MAX_MOVED, type Outbox } from './outbox.js'
import type { Tables } from '../schema/tables.js'

/** What an append comes to. */
export interface Appended {
  readonly events: readonly AuditEvent[]
  readonly suppressed: readonly { readonly draft: EventDraft; readonly opensIn: Microseconds }[]
}

/** Gives drafts their place in time. All of it belongs into a write transaction. */
export interface Appender {
  /**
   * Keeps the drafts after all of the outbox; those that are `found` by their tails stay as they
   * are. Where that is too much for one transaction, only the oldest of the outbox are kept, and
   * `undefined` is given back.
   */
  append(
    drafts: readonly EventDraft[],
    found?: ReadonlyMap<string, AuditEvent>,
  ): Appended | undefined
  /** Keeps one draft, whatever its throttle says. */
  appendOne(draft: EventDraft): void
}

// Asked by itself an empty outbox takes longer than the insert of an event.
const BEFORE = `SELECT created_at, EXISTS (SELECT 1 FROM daybook_outbox) FROM daybook_high_water`

export function createAppender(
  { connection, events, live, throttles }: Tables,
  outbox: Outbox,
  clock: Clock,
): Appender {
  /** Gives how many there are more of the events that change no more. */
  const insert = (draft: EventDraft, time: Microseconds): 0 | 1 => {
    const table = draft.live ? live : events
    table.insert(draft, time)
    return draft.live ? 0 : 1
  }

  /** Where its throttle lets it through the draft is an event then. */
  const keepEnlisted = (enlisted: OutboxDraft, time: Microseconds, now: Microseconds): boolean => {
    const { draft, recordedAt } = enlisted
    if (throttles.opensIn(draft, now) === 0) {
      const late = withOccurredAt(enlisted, time)
      insert(throttles.close(late, Math.min(time, now)), time)
      return true
    }
    throttles.add(heldBackOnce(draft, recordedAt))
    return false
  }

  const before = (): readonly [highWater: Microseconds, hasEnlisted: 0 | 1] =>
    connection.statement(BEFORE).raw(true).get() as [Microseconds, 0 | 1]

  return {
    append(drafts, found) {
      const [highWater, hasEnlisted] = before()
      const moved = hasEnlisted ? outbox.take() : []
      const isFull = moved.length === MAX_MOVED
      const own = isFull ? [] : drafts
      const now = clock()
      const start = Math.max(highWater, now - moved.length - own.length)
      let time = start
      for (const enlisted of moved) if (keepEnlisted(enlisted, time + 1, now)) time += 1
      // What waits in the outbox is never live.
      let inserted = time - start
      const kept: AuditEvent[] = []
      const heldBack: { draft: EventDraft; opensIn: Microseconds }[] = []
      for (const draft of own) {
        const there = found?.get(draft.tail)
        const opensIn = there ? 0 : throttles.opensIn(draft, now)
        if (there) kept.push(there)
        else if (opensIn > 0) heldBack.push({ draft, opensIn })
        else {
          time += 1
          const told = throttles.close(draft, Math.min(time, now))
          inserted += insert(told, time)
          kept.push(stampDraft(told, time))
        }
      }
      if (time > start) events.setHighWater(time, inserted)
      return isFull ? undefined : { events: kept, suppressed: heldBack }
    },
    appendOne(draft) {
      const time = Math.max(events.highWater() + 1, clock())
      events.setHighWater(time, insert(draft, time))
    },
  }
}

function heldBackOnce({ type, throttle }: EventDraft, at: Microseconds): SuppressedCount {
  return { ...throttle!, type, count: 1, first: at, last: at }
}
