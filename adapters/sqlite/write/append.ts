import { type AuditEvent, type EventDraft, stampDraft } from '../../../src/event/event.js'
import { withOccurredAt } from '../../../src/event/occurred-at.js'
import type { SuppressedCount } from '../../../src/store/store.js'
import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import { type OutboxDraft, MAX_MOVED, type Outbox } from './outbox.js'
import type { Tables } from '../schema/tables.js'

export interface Appended {
  readonly events: readonly AuditEvent[]
  readonly suppressed: readonly { readonly draft: EventDraft; readonly opensIn: Microseconds }[]
}

/** Stores drafts and assigns their times. Call the methods within a write transaction. */
export interface Appender {
  /**
   * Stores the drafts of the outbox, then these drafts. Drafts that are `found`, by their suffixes, were
   * stored before. If the outbox has too many drafts for one transaction, it stores the oldest of them
   * only and returns `undefined`.
   */
  append(
    drafts: readonly EventDraft[],
    found?: ReadonlyMap<string, AuditEvent>,
  ): Appended | undefined
  /** The high-water mark at the start of the last `append`: what it stored is later. */
  startedAfter(): Microseconds
  /** Stores one draft without regard to its throttle. */
  appendOne(draft: EventDraft): void
}

// One statement: a separate check of the outbox would take longer than the insert of an event.
const LOG_STATE = `SELECT created_at, EXISTS (SELECT 1 FROM daybook_outbox) FROM daybook_high_water`

export function createAppender(
  { connection, events, live, throttles }: Tables,
  outbox: Outbox,
  clock: Clock,
): Appender {
  /** Returns the number of rows added to the table of events, which has no live events. */
  const insert = (draft: EventDraft, time: Microseconds): 0 | 1 => {
    const table = draft.live ? live : events
    table.insert(draft, time)
    return draft.live ? 0 : 1
  }

  /** Returns false if the throttle suppresses the draft. */
  const storeFromOutbox = (moved: OutboxDraft, time: Microseconds, now: Microseconds): boolean => {
    const { draft, recordedAt } = moved
    if (throttles.opensIn(draft, now) === 0) {
      const late = withOccurredAt(moved, time)
      insert(throttles.close(late, Math.min(time, now)), time)
      return true
    }
    throttles.add(suppressedOnce(draft, recordedAt))
    return false
  }

  const readLogState = (): readonly [highWater: Microseconds, hasOutboxDrafts: 0 | 1] =>
    connection.statement(LOG_STATE).raw(true).get() as [Microseconds, 0 | 1]

  let startedAfter: Microseconds = 0

  return {
    startedAfter: () => startedAfter,
    append(drafts, found) {
      const [highWater, hasOutboxDrafts] = readLogState()
      startedAfter = highWater
      const moved = hasOutboxDrafts ? outbox.take() : []
      const isFull = moved.length === MAX_MOVED
      const own = isFull ? [] : drafts
      const now = clock()
      const start = Math.max(highWater, now - moved.length - own.length)
      let time = start
      for (const one of moved) if (storeFromOutbox(one, time + 1, now)) time += 1
      // Drafts in the outbox are never live.
      let inserted = time - start
      const stored: AuditEvent[] = []
      const suppressed: { draft: EventDraft; opensIn: Microseconds }[] = []
      for (const draft of own) {
        const recovered = found?.get(draft.suffix)
        const opensIn = recovered ? 0 : throttles.opensIn(draft, now)
        if (recovered) stored.push(recovered)
        else if (opensIn > 0) suppressed.push({ draft, opensIn })
        else {
          time += 1
          const counted = throttles.close(draft, Math.min(time, now))
          inserted += insert(counted, time)
          stored.push(stampDraft(counted, time))
        }
      }
      if (time > start) events.setHighWater(time, inserted)
      return isFull ? undefined : { events: stored, suppressed }
    },
    appendOne(draft) {
      const time = Math.max(events.highWater() + 1, clock())
      events.setHighWater(time, insert(draft, time))
    },
  }
}

function suppressedOnce({ type, throttle }: EventDraft, at: Microseconds): SuppressedCount {
  return { ...throttle!, type, count: 1, first: at, last: at }
}
