import type { AuditEvent, EventDraft, JsonObject } from '../../../src/event/event.js'
import { withOccurredAt } from '../../../src/event/occurred-at.js'
import type { SuppressedCount } from '../../../src/store/store.js'
import { type ThrottleState, withSuppressed } from '../../../src/store/throttle-state.js'
import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import { type OutboxDraft, MAX_MOVED_DRAFTS, type Outbox } from './outbox.js'
import { type Recovered, recoverRest } from './recover.js'
import { checkRow } from '../schema/only-row.js'
import type { Tables } from '../schema/tables.js'

export interface AppendRequest {
  readonly drafts: readonly EventDraft[]
  /** What earlier attempts may have stored of the drafts. */
  readonly recovered?: Recovered | undefined
}

/** A draft that is not stored as it was given, by its index in the request. */
export type Exception =
  | { readonly index: number; readonly opensIn: Microseconds }
  | { readonly index: number; readonly found: AuditEvent }
  /** The event takes the calls that its throttle suppressed before. */
  | { readonly index: number; readonly suppressed: ThrottleState }

/** The stored drafts get successive times, in their order. Drafts that are `found` or whose throttle is closed get none. */
export interface Appended {
  readonly first: Microseconds
  readonly exceptions: readonly Exception[]
}

/** Stores drafts and assigns their times. Call the methods within a write transaction. */
export interface Appender {
  /**
   * Stores the drafts of the outbox, then these drafts. If the outbox has too many drafts for one transaction, it
   * stores the oldest of them only and returns `undefined`.
   */
  append(request: AppendRequest): Appended | undefined
  /** Stores one draft without regard to its throttle. */
  appendOne(draft: EventDraft): void
}

export const NO_DRAFTS: AppendRequest = { drafts: [] }

// One statement: a separate check of the outbox would take longer than the insert of an event.
const LOG_STATE = `SELECT created_at, EXISTS (SELECT 1 FROM daybook_outbox) FROM daybook_high_water`

export function createAppender(tables: Tables, outbox: Outbox, clock: Clock): Appender {
  const { connection, events, live, throttles } = tables
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
      insert(withSuppressed(late, throttles.close(late, Math.min(time, now))), time)
      return true
    }
    throttles.add(suppressedOnce(draft, recordedAt))
    return false
  }

  const readLogState = (): readonly [highWater: Microseconds, hasOutboxDrafts: 0 | 1] =>
    checkRow(connection.statement(LOG_STATE).raw(true).get() as [Microseconds, 0 | 1], LOG_STATE)

  return {
    append({ drafts, recovered }) {
      const [highWater, hasOutboxDrafts] = readLogState()
      const moved = hasOutboxDrafts ? outbox.take() : []
      const isFull = moved.length === MAX_MOVED_DRAFTS
      const own = isFull ? [] : drafts
      const found = recovered && recoverRest(tables, own, recovered)
      const now = clock()
      const start = Math.max(highWater, now - moved.length - own.length)
      let time = start
      for (const one of moved) if (storeFromOutbox(one, time + 1, now)) time += 1
      const first = time + 1
      // Drafts in the outbox are never live.
      let inserted = time - start
      const exceptions: Exception[] = []
      for (const [index, draft] of own.entries()) {
        const event = found?.get(draft.suffix)
        const opensIn = event || !draft.throttle ? 0 : throttles.opensIn(draft, now)
        if (event) exceptions.push({ index, found: event })
        else if (opensIn > 0) exceptions.push({ index, opensIn })
        else {
          time += 1
          if (!draft.throttle) inserted += insert(draft, time)
          else {
            const suppressed = throttles.close(draft, Math.min(time, now))
            if (suppressed.count > 0) exceptions.push({ index, suppressed })
            inserted += insert(counted(draft, suppressed), time)
          }
        }
      }
      if (time > start) events.setHighWater(time, inserted)
      return isFull ? undefined : { first, exceptions }
    },
    appendOne(draft) {
      const time = Math.max(events.highWater() + 1, clock())
      events.setHighWater(time, insert(draft, time))
    },
  }
}

/** The draft with the suppressed calls in its JSON text. */
function counted(draft: EventDraft, suppressed: ThrottleState): EventDraft {
  if (suppressed.count === 0) return draft
  const attributes = JSON.parse(draft.json) as JsonObject
  return withSuppressed({ ...draft, attributes }, suppressed)
}

function suppressedOnce({ type, throttle }: EventDraft, at: Microseconds): SuppressedCount {
  return { ...throttle!, type, count: 1, first: at, last: at }
}
