import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError } from '../../../src/errors.js'
import {
  type AuditEvent,
  type EventDraft,
  type JsonObject,
  stampLate,
} from '../../../src/event/event.js'
import { withOccurredAt } from '../../../src/event/occurred-at.js'
import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import type { AppendOptions, EventStore, SuppressedCount } from '../../../src/store/store.js'
import { type ThrottleState, withSuppressed } from '../../../src/store/throttle-state.js'
import { isDiskFailure } from '../connection/disk-failure.js'
import { checkRow } from '../schema/events.js'
import type { Tables } from '../schema/log-tables.js'
import { insertEvent, setHighWater } from './insert.js'
import { insertLive } from './live.js'
import { addSuppressed, closeThrottle, opensIn } from './throttles.js'
import { type OutboxDraft, MAX_MOVED_DRAFTS, type Outbox } from './outbox.js'
import { recover, type Recovered, recoverRest } from './recover.js'

/** A draft that is not stored as it was given, by its index among the drafts. */
type Exception =
  | { readonly index: number; readonly opensIn: Microseconds }
  | { readonly index: number; readonly found: AuditEvent }
  /** The event takes the calls that its throttle suppressed before. */
  | { readonly index: number; readonly suppressed: ThrottleState }

/** The stored drafts get successive times, in their order. Drafts that are `found` or whose throttle is closed get none. */
interface Stored {
  readonly first: Microseconds
  readonly exceptions: readonly Exception[]
}

/** Stores drafts and assigns their times. Call the methods within a write transaction. */
export interface DraftTable {
  /**
   * Stores the drafts of the outbox, then these drafts, except those that earlier attempts have stored. If the outbox has
   * too many drafts for one transaction, it stores the oldest of them only and returns `undefined`.
   */
  insert(drafts: readonly EventDraft[], recovered?: Recovered): Stored | undefined
  /** Stores one draft without regard to its throttle. */
  insertOne(draft: EventDraft): void
}

// One statement: a separate check of the outbox would take longer than the insert of an event.
const LOG_STATE = `SELECT created_at, EXISTS (SELECT 1 FROM daybook_outbox) FROM daybook_high_water`

export function createDraftTable(tables: Tables, outbox: Outbox, clock: Clock): DraftTable {
  const { connection, events } = tables
  /** Returns the number of rows added to the table of events, which has no live events. */
  const insert = (draft: EventDraft, time: Microseconds): 0 | 1 => {
    if (draft.live) insertLive(connection, draft, time)
    else insertEvent(connection, draft, time)
    return draft.live ? 0 : 1
  }

  /** Returns false if the throttle suppresses the draft. */
  const storeFromOutbox = (moved: OutboxDraft, time: Microseconds, now: Microseconds): boolean => {
    const { draft, recordedAt } = moved
    if (opensIn(connection, draft, now) === 0) {
      const late = withOccurredAt(moved, time)
      const suppressed = closeThrottle(connection, late, Math.min(time, now))
      insert(withSuppressed(late, suppressed), time)
      return true
    }
    addSuppressed(connection, suppressedOnce(draft, recordedAt))
    return false
  }

  const readLogState = (): readonly [highWater: Microseconds, hasOutboxDrafts: 0 | 1] =>
    checkRow(connection.statement(LOG_STATE).raw(true).get() as [Microseconds, 0 | 1], LOG_STATE)

  return {
    insert(drafts, recovered) {
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
        const closedFor = event || !draft.throttle ? 0 : opensIn(connection, draft, now)
        if (event) exceptions.push({ index, found: event })
        else if (closedFor > 0) exceptions.push({ index, opensIn: closedFor })
        else {
          time += 1
          if (!draft.throttle) inserted += insert(draft, time)
          else {
            const suppressed = closeThrottle(connection, draft, Math.min(time, now))
            if (suppressed.count > 0) exceptions.push({ index, suppressed })
            inserted += insert(counted(draft, suppressed), time)
          }
        }
      }
      if (time > start) setHighWater(connection, time, inserted)
      return isFull ? undefined : { first, exceptions }
    },
    insertOne(draft) {
      const time = Math.max(events.highWater() + 1, clock())
      setHighWater(connection, time, insert(draft, time))
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

/** The events that these drafts have become. Calls `onSuppressed` for each of the suppressed ones. */
function eventsOf(
  drafts: readonly EventDraft[],
  { first, exceptions }: Stored,
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

// Other connections that wait for the lock try about this often.
const RETRY_MS = 2

export interface AppendHooks {
  /** A time before every event that is appended from now on. */
  readonly floor: Microseconds
  /** Called when events have become visible. */
  readonly onStored: () => void
  /** Called when they are durable. */
  readonly onDurable: () => void
}

/** See `EventStore.append`. */
export function createAppend(
  tables: Tables,
  table: DraftTable,
  { floor: start, onStored, onDurable }: AppendHooks,
): EventStore['append'] {
  const { connection } = tables
  /** A time before every event that the next append stores. */
  let floor = start
  let storedAt = -Infinity

  /** Stores the drafts in one transaction, which is visible then. See `DraftTable.insert`. */
  const store = async (
    drafts: readonly EventDraft[],
    recovered: Recovered | undefined,
    options: AppendOptions,
  ): Promise<Stored | undefined> => {
    // Other connections may have had no time to get the lock since the last transaction.
    if (connection.isContended() && performance.now() - storedAt < RETRY_MS)
      await connection.pause(options)
    try {
      return await connection.commit(() => table.insert(drafts, recovered), options)
    } finally {
      storedAt = performance.now()
    }
  }

  /** The drafts, if a commit that failed on the disk has stored them nevertheless. */
  const findKept = async (
    drafts: readonly EventDraft[],
    error: unknown,
  ): Promise<Recovered | undefined> => {
    if (!(error instanceof AuditLogError) || !isDiskFailure(error.cause)) return undefined
    const kept = await recover(tables, drafts, floor, {})
    return kept.events.size > 0 ? kept : undefined
  }

  return async (drafts, options = {}) => {
    const { since, onSuppressed } = options
    let recovered = since === undefined ? undefined : await recover(tables, drafts, since, options)
    for (;;) {
      const stored = await store(drafts, recovered, options).catch(async (error) => {
        const kept = await findKept(drafts, error)
        if (!kept) throw error
        recovered ??= kept
      })
      onStored()
      if (stored) {
        if (drafts.length > stored.exceptions.length) floor = stored.first - 1
        options.onStored?.()
        // A caller that knows that the events are visible decides itself how long it waits.
        await connection.durable(options.onStored ? {} : options)
        onDurable()
        return eventsOf(drafts, stored, onSuppressed)
      }
      await nextTurn()
    }
  }
}
