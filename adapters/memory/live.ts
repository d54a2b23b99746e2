import { AuditLogError } from '../../src/errors.js'
import type { AuditEvent, JsonObject } from '../../src/event/event.js'
import type { LiveChange, OpenEvent } from '../../src/store/store.js'
import { parseFrozen } from './frozen.js'
import type { Timeline } from './timeline.js'

/** The attributes of an open live event, in their parts. */
interface LiveAttributes {
  readonly revision: number
  /** Where a text grows, what stands before what was added. */
  readonly base: JsonObject
  /** What was added to texts. */
  readonly texts: ReadonlyMap<string, string>
}

const textOf = (base: JsonObject, key: string): string => {
  const value = Object.hasOwn(base, key) ? base[key] : ''
  return typeof value === 'string' ? value : ''
}

/** The whole attributes. */
function joined({ base, texts }: LiveAttributes): JsonObject {
  const grown = Array.from(texts, ([key, text]) => [key, textOf(base, key) + text] as const)
  return { ...base, ...Object.fromEntries(grown) }
}

/** The attributes with the change; as they are where it has been applied already. */
function changed(live: LiveAttributes, change: LiveChange): LiveAttributes {
  if (change.revision <= live.revision) return live
  if (change.revision > live.revision + 1) {
    const message = `the change ${change.revision} of a live event comes after ${live.revision}`
    throw new AuditLogError('INVALID_OPTION', message)
  }
  const base = change.json === undefined ? live.base : parseFrozen(change.json)
  const texts = new Map(live.texts)
  // An attribute that is not there any more, or something else, has no text that grows.
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

/** The live events that are open; each stands in the timeline as it is at the moment. */
export interface LiveEvents {
  isOpen(event: AuditEvent): boolean
  open(event: AuditEvent): void
  /** False where the event is not open. */
  change(id: string, change: LiveChange): boolean
  /** The event is an ordinary one from now on, if it was open. */
  close(id: string): void
  /** How many that are open stand before the time. */
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
