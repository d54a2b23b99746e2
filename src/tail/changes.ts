import { LRUCache } from 'lru-cache'
import { untilAborted } from '../errors.js'
import type { AuditEvent, JsonObject } from '../event/event.js'
import { parseEventId } from '../event/event-id.js'
import type { Position, TailFilter } from './poll.js'
import { type Operation, safePatch, wholePatch } from '../event/json-patch.js'
import type { EventStore, OpenEvent, WaitOptions } from '../store/store.js'
import { formatTimestamp } from '../event/timestamp.js'

/** What became of a live event since it was given, or since its last change. */
export interface EventChange {
  /** Those of the event. */
  readonly id: string
  readonly created_at: string
  /**
   * Operations of JSON Patch (RFC 6902) on the event's `attributes`. The first change of an event
   * from before the tail's start puts in all of them.
   */
  readonly patch: readonly Operation[]
  /** True for the last one, whose patch may be empty: the event is as it stays. */
  readonly closed: boolean
}

/** The event at this revision or a later one, shared by the tails of one log. */
export type LoadLive = (id: string, revision: number) => Promise<AuditEvent | undefined>

// For tails that are told of a change at the same time.
const MAX_SHARED = 16

/** The revision of an event that is closed: it has no later one. */
const CLOSED = Infinity

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

/** Follows the open events of one tail. */
export interface ChangeTracker {
  /** The tail is about to give the event, which it has read after the open ones were these. */
  give(event: AuditEvent, open: readonly OpenEvent[]): void
  /** Those that may have changed, with the revision to load. */
  due(open: readonly OpenEvent[]): { readonly id: string; readonly revision: number }[]
  /** What became of one of those that were due, if anything did. */
  change(id: string, revision: number, options: WaitOptions): Promise<EventChange | undefined>
}

interface Tracked {
  /** What the reader has by now; `undefined` where that is nothing. */
  attributes: JsonObject | undefined
  /** What the reader has is of this revision or a later one. */
  revision: number
}

export function createChangeTracker(
  load: LoadLive,
  { matches }: TailFilter,
  start: Position,
  isVisible: (event: AuditEvent) => boolean,
): ChangeTracker {
  const tracked = new Map<string, Tracked>()
  let hasBegun = false

  /** Those from before the start are met once: none of them can come later. */
  const begin = (open: readonly OpenEvent[]): void => {
    hasBegun = true
    for (const { id } of open) {
      const created = createdAt(id)
      const isBefore = start !== undefined && created !== undefined && created <= start
      if (isBefore) tracked.set(id, { attributes: undefined, revision: -1 })
    }
  }

  return {
    give({ id, attributes }, open) {
      const found = open.find((other) => other.id === id)
      if (found)
        tracked.set(id, { attributes: structuredClone(attributes), revision: found.revision })
    },
    due(open) {
      if (!hasBegun) begin(open)
      if (tracked.size === 0) return []
      const revisions = new Map(open.map(({ id, revision }) => [id, revision]))
      return Array.from(tracked, ([id, { revision }]) => ({
        id,
        from: revision,
        revision: revisions.get(id) ?? CLOSED,
      })).filter(({ from, revision }) => revision > from)
    },
    async change(id, revision, { signal }) {
      const event = await untilAborted(load(id, revision), signal)
      const known = tracked.get(id)!
      const closed = revision === CLOSED
      const isNew = known.attributes === undefined
      const isHidden = event && !isVisible(event)
      if (isHidden || (isNew && !(event && matches(event)))) {
        tracked.delete(id)
        return undefined
      }
      // Where it was removed meanwhile, what the reader has is the last there was.
      const attributes = event?.attributes ?? known.attributes!
      const patch = isNew ? wholePatch(attributes) : safePatch(known.attributes!, attributes)
      if (closed) tracked.delete(id)
      else tracked.set(id, { attributes, revision })
      if (patch.length === 0 && !closed) return undefined
      return { id, created_at: event?.created_at ?? createdAt(id)!, patch, closed }
    },
  }
}

/** Ids of events that were recorded live carry their time. */
function createdAt(id: string): string | undefined {
  const time = parseEventId(id)?.time
  return time === undefined ? undefined : formatTimestamp(time)
}
