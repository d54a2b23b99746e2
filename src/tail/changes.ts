import { LRUCache } from 'lru-cache'
import { untilAborted } from '../errors.js'
import type { AuditEvent, JsonObject } from '../event/event.js'
import { parseEventId } from '../event/event-id.js'
import type { TailFilter } from './poll.js'
import type { OpenRevisions } from './session.js'
import { type Operation, safePatch, replaceAllPatch } from '../event/json-patch.js'
import type { Decide } from '../filter/steps.js'
import { filterInTurns } from '../filter/time-slices.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { formatTimestamp } from '../event/timestamp.js'

/** The change of a live event since it was delivered, or since its last delivered change. */
export interface EventChange {
  /** Id and time of the event. */
  readonly id: string
  readonly created_at: string
  /**
   * JSON Patch (RFC 6902) operations on the event's `attributes`. The first change of an event that
   * is older than the tail adds all of them.
   */
  readonly patch: readonly Operation[]
  /** True for the last change of the event; its patch may be empty. */
  readonly closed: boolean
}

/** Loads the event at this revision or a later one. */
export type LoadLive = (id: string, revision: number) => Promise<AuditEvent | undefined>

// Tails that learn of a change at the same time share a load.
const MAX_SHARED = 16

/** Revision of a closed event, which is later than all others. */
const CLOSED = Infinity

/** Shares loads between the tails of one log. */
export function sharedLoads(store: EventStore): LoadLive {
  interface Load {
    readonly revision: number
    readonly event: Promise<AuditEvent | undefined>
  }
  const loads = new LRUCache<string, Load>({ max: MAX_SHARED })
  return (id, revision) => {
    const known = loads.get(id)
    if (known && known.revision >= revision) return known.event
    const load = { revision, event: store.get(id) }
    loads.set(id, load)
    load.event.catch(() => {
      if (loads.get(id) === load) loads.delete(id)
    })
    return load.event
  }
}

/** A new revision of a tracked event. */
export interface NewRevision {
  readonly id: string
  readonly revision: number
}

/** Follows the open events of one tail. */
export interface ChangeTracker {
  /**
   * Tracks an event that the tail delivers and that was read at this revision or later. Does nothing for `undefined`,
   * because the event was not open.
   */
  track(event: AuditEvent, revision: number | undefined): void
  /** The tracked events with a new revision. `open` must have been read after all tracked events. */
  changed(open: OpenRevisions): NewRevision[]
  /** Loads one of the changed events; `undefined` if there is no change to deliver. */
  change(changed: NewRevision, options: WaitOptions): Promise<EventChange | undefined>
}

export interface ChangeTrackerOptions {
  readonly load: LoadLive
  readonly filter: TailFilter
  /** The start of the tail. */
  readonly start: string
  /** Ids of events that the reader knows to be open. */
  readonly known: Iterable<string>
  readonly isVisible: Decide<AuditEvent>
  /** Returns the event as the reader sees it. */
  readonly view: (event: AuditEvent) => AuditEvent
}

interface Tracked {
  /** The attributes that the reader has; `undefined` before the first change of an older event. */
  attributes: JsonObject | undefined
  /** The attributes are of this revision or a later one. */
  revision: number
}

const passes = async (event: AuditEvent, test: Decide<AuditEvent>): Promise<boolean> =>
  (await filterInTurns([event], test)).length > 0

export function createChangeTracker({
  load,
  filter: { matches },
  start,
  known,
  isVisible,
  view,
}: ChangeTrackerOptions): ChangeTracker {
  const tracked = new Map<string, Tracked>()
  let hasBegun = false

  /**
   * Tracks the open events from before the start, and the events that the reader knows as open. Later calls add no
   * such events.
   */
  const begin = (open: OpenRevisions): void => {
    hasBegun = true
    for (const id of [...open.keys(), ...known]) {
      const created = createdAt(id)
      const isBefore = created !== undefined && created <= start
      if (isBefore) tracked.set(id, { attributes: undefined, revision: -1 })
    }
  }

  return {
    track(event, revision) {
      if (revision !== undefined)
        tracked.set(event.id, { attributes: structuredClone(view(event).attributes), revision })
    },
    changed(open) {
      if (!hasBegun) begin(open)
      if (tracked.size === 0) return []
      return Array.from(tracked, ([id, { revision }]) => ({
        id,
        from: revision,
        revision: open.get(id) ?? CLOSED,
      })).filter(({ from, revision }) => revision > from)
    },
    async change({ id, revision }, { signal }) {
      const event = await untilAborted(load(id, revision), signal)
      const before = tracked.get(id)!
      const closed = revision === CLOSED
      const isNew = before.attributes === undefined
      const isHidden = event && !(await passes(event, isVisible))
      if (isHidden || (isNew && !(event && (await passes(event, matches))))) {
        tracked.delete(id)
        return undefined
      }
      // If the event was removed, the reader keeps its last attributes.
      const attributes = event ? view(event).attributes : before.attributes!
      const patch = isNew ? replaceAllPatch(attributes) : safePatch(before.attributes!, attributes)
      if (closed) tracked.delete(id)
      else tracked.set(id, { attributes, revision })
      if (patch.length === 0 && !closed) return undefined
      return { id, created_at: event?.created_at ?? createdAt(id)!, patch, closed }
    },
  }
}

/** The ids of live events carry their time. */
function createdAt(id: string): string | undefined {
  const time = parseEventId(id)?.time
  return time === undefined ? undefined : formatTimestamp(time)
}
