import type { AuditEvent, JsonObject } from '../../src/event/event.js'
import { isNextRevision } from '../../src/store/live-revision.js'
import type { LiveChange, OpenEvent } from '../../src/store/store.js'
import { parseFrozen } from './frozen.js'
import type { Timeline } from './timeline.js'

/** The attributes of an open live event. */
interface LiveAttributes {
  readonly revision: number
  /** The attributes without appended text. */
  readonly base: JsonObject
  /** Appended text by the key of the attribute. */
  readonly texts: ReadonlyMap<string, string>
}

const textOf = (base: JsonObject, key: string): string => {
  const value = Object.hasOwn(base, key) ? base[key] : ''
  return typeof value === 'string' ? value : ''
}

/** The attributes with the appended text. */
function joined({ base, texts }: LiveAttributes): JsonObject {
  const grown = Array.from(texts, ([key, text]) => [key, textOf(base, key) + text] as const)
  return { ...base, ...Object.fromEntries(grown) }
}

/** The attributes after the change; unchanged if it was applied before. */
function changed(live: LiveAttributes, change: LiveChange): LiveAttributes {
  if (!isNextRevision(live.revision, change)) return live
  const base = change.json === undefined ? live.base : parseFrozen(change.json)
  const texts = new Map(live.texts)
  // Text cannot be appended to an attribute that was removed or that is no longer a text.
  if (change.json !== undefined)
    for (const key of live.texts.keys())
      if (!Object.hasOwn(base, key) || typeof base[key] !== 'string') texts.delete(key)
  const replaced: [string, string][] = []
  for (const { key, text, replaces } of change.texts ?? []) {
    texts.set(key, replaces ? text : (texts.get(key) ?? '') + text)
    if (replaces) replaced.push([key, ''])
  }
  return {
    revision: change.revision,
    base: replaced.length > 0 ? { ...base, ...Object.fromEntries(replaced) } : base,
    texts,
  }
}

/** The open live events. The timeline has their current state. */
export interface LiveEvents {
  isOpen(event: AuditEvent): boolean
  open(event: AuditEvent): void
  /** Applies the change, unless it was applied before. Returns false if the event is not open. */
  change(id: string, change: LiveChange): boolean
  /** Closes the event if it is open. */
  close(id: string): void
  /** Counts the open events before the time. */
  countBefore(time: number): number
  list(): OpenEvent[]
}

export function createLiveEvents(timeline: Timeline): LiveEvents {
  const open = new Map<string, LiveAttributes>()
  return {
    isOpen: ({ id }) => open.has(id),
    open({ id, attributes }) {
      open.set(id, { revision: 0, base: attributes, texts: new Map() })
    },
    change(id, change) {
      const before = open.get(id)
      if (!before) return false
      const live = changed(before, change)
      if (live === before) return true
      const { time, event } = timeline.find(id)!
      open.set(id, live)
      timeline.replace({
        time,
        event: Object.freeze({ ...event, attributes: Object.freeze(joined(live)) }),
      })
      return true
    },
    close: (id) => void open.delete(id),
    countBefore: (time) => [...open.keys()].filter((id) => timeline.find(id)!.time < time).length,
    list: () => Array.from(open, ([id, { revision }]) => ({ id, revision })),
  }
}
