import { createFirstTimer, createOneTimer } from '../async/timers.js'
import type { EventDraft, JsonObject } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { type JsonLimits, toJsonText } from '../event/json.js'
import type { LinkTable } from '../event/links.js'
import { type Clock, formatTimestamp, type Microseconds } from '../event/timestamp.js'
import {
  type Collapsing,
  type CountedCall,
  createCollapseRules,
  MAX_LISTED,
  MAX_TEXT,
  moreOf,
  shownText,
} from './collapse-rules.js'
import type { Drafts } from './drafts.js'
import type { IntentKeeper, KeptEvent } from './intents.js'

/*
 * The first call of a key is recorded as any other. The others are counted until the window of the key ends, and become one
 * event then, or at `close`. Until then this event is an intent of the log, which is saved every 0.7 seconds while calls
 * are counted. If the process is killed, the next one records it as it was saved last, with `interrupted: true`.
 */

export interface CollapsingParts {
  readonly types: EventTypes
  readonly throttles: { readonly has: (type: string) => boolean }
  readonly links: LinkTable
  readonly limits: JsonLimits
  readonly now: Clock
  readonly drafts: Drafts
  readonly deadlineMs: number
  /** After this time without a counted call, the windows that have counted calls end: the log need not stay open for them. */
  readonly idleMs: number | undefined
  readonly intents: () => Pick<IntentKeeper, 'keep' | 'save' | 'counted'>
}

/** The type of the event of calls that have no window of their own. */
const COLLAPSED = 'info:audit_log:collapsed'

/** The most windows that are open at a time, without those of limited calls. */
const MAX_OPEN = 1000
/** How many windows end before their time in a minute, to make room for others. */
const MAX_EARLY = 1000
const MINUTE_MS = 60_000
/** Counts are in the store at most a second after the call, with the time that it takes to store them. */
const SAVE_MS = 700
/** The most characters of listed values in all windows together. */
const MAX_ALL_TEXTS = 262_144
/** The most bytes of the attributes that do not count. */
const MAX_REST_BYTES = 2048

/** The values that the calls of a window have listed. */
class Texts {
  readonly attribute: string
  readonly #room: { left: number }
  readonly #given = new Set<string>()
  readonly #shown: string[] = []
  #more = 0

  constructor(attribute: string, room: { left: number }) {
    this.attribute = attribute
    this.#room = room
  }

  add(values: readonly unknown[]): void {
    for (const value of values) {
      const text = String(value).slice(0, MAX_TEXT)
      if (this.#given.has(text)) continue
      if (this.#given.size < MAX_LISTED && text.length <= this.#room.left) {
        this.#room.left -= text.length
        this.#given.add(text)
        this.#shown.push(shownText(text))
      } else this.#more++
    }
  }

  attributes(): JsonObject {
    const { attribute } = this
    return {
      ...(this.#shown.length > 0 && { [attribute]: [...this.#shown] }),
      ...(this.#more > 0 && { [moreOf(attribute)]: this.#more }),
    }
  }

  /** Gives its room to others. */
  clear(): void {
    for (const text of this.#given) this.#room.left += text.length
  }
}

/** The counted calls of a window. */
interface Rest {
  readonly draft: EventDraft
  readonly kept: KeptEvent
  readonly texts: Texts | undefined
  count: number
  readonly first: Microseconds
  last: Microseconds
  /** True if the intent has other counts. */
  isChanged: boolean
}

/** The time in which the calls of a key are counted, on the scale of `performance.now()`. */
interface Window {
  readonly key: string
  readonly isLimited: boolean
  readonly endsAt: number
  usedAt: number
  rest: Rest | undefined
}

const attributesOf = ({ draft, count, first, last, texts }: Rest): JsonObject => ({
  ...draft.attributes,
  collapsed: true,
  count,
  first_at: formatTimestamp(first),
  last_at: formatTimestamp(last),
  ...texts?.attributes(),
})

function draftOf(rest: Rest): EventDraft {
  const attributes = attributesOf(rest)
  return { ...rest.draft, attributes, json: JSON.stringify(attributes) }
}

/** The draft of the event of a window, without what is counted. */
function firstDraft(
  { types, limits, drafts }: CollapsingParts,
  { type, rest }: CountedCall,
): EventDraft {
  const source = types[type]?.source
  const definition = source === undefined ? undefined : { source }
  const small = { ...limits, maxBytes: MAX_REST_BYTES }
  try {
    const { data, ...context } = rest()
    return drafts.system(type, definition, toJsonText(data, small).attributes, context)
  } catch {
    // The call itself has been checked: only what identifies it can be refused.
    return drafts.system(type, undefined, {})
  }
}

/** Counts calls, and makes their events. */
function createCounts(parts: CollapsingParts) {
  const { now, intents, deadlineMs } = parts
  const changed = new Set<Rest>()
  const ending = new Set<Promise<unknown>>()
  const room = { left: MAX_ALL_TEXTS }
  let isSaved = true

  const begin = (call: CountedCall, time: Microseconds): Rest => {
    const texts = call.listed && new Texts(call.listed.attribute, room)
    const draft = firstDraft(parts, call)
    const counts = { count: 0, first: time, last: time, isChanged: false }
    return { draft, texts, kept: intents().keep(draft), ...counts }
  }

  const note = (): void => {
    for (const rest of changed) {
      rest.isChanged = false
      rest.kept.change({ ...attributesOf(rest), interrupted: true })
    }
    changed.clear()
  }
  const save = async (): Promise<void> => {
    note()
    if (isSaved) return
    isSaved = true
    await intents()
      .save()
      .catch((error: unknown) => {
        isSaved = false
        throw error
      })
  }
  const saver = createOneTimer(() => void save().catch(saveSoon))
  const saveSoon = (): void => {
    isSaved = false
    saver.watch(performance.now() + SAVE_MS)
  }

  return {
    begin,
    async counted(signal: AbortSignal | undefined) {
      note()
      return intents().counted(signal)
    },
    count(rest: Rest, { listed }: CountedCall): void {
      rest.count++
      rest.last = now()
      if (listed) rest.texts?.add(listed.values)
      if (rest.isChanged) return
      rest.isChanged = true
      changed.add(rest)
      saveSoon()
    },
    /** Records the event, within `ms` milliseconds. */
    end(rest: Rest, ms = deadlineMs): void {
      changed.delete(rest)
      rest.texts?.clear()
      const draft = draftOf(rest)
      const recorded: Promise<unknown> = rest.kept
        .record(draft, ms)
        // The intent stays, and the log tries again.
        .catch(() => {})
        .finally(() => ending.delete(recorded))
      ending.add(recorded)
      saveSoon()
    },
    async save(): Promise<void> {
      await Promise.all(ending)
      await save()
    },
    async close(): Promise<void> {
      await Promise.all(ending)
      saver.clear()
    },
  }
}

/** The call that counts for all calls without a window of their own. */
const unplaced = ({ type }: CountedCall): CountedCall => ({
  type: COLLAPSED,
  key: COLLAPSED,
  windowMs: MINUTE_MS,
  isLimited: true,
  listed: { attribute: 'types', values: [type] },
  rest: () => ({ data: {}, username: null }),
})

/** Returns a function that returns true so many times in a minute. */
function createBudget(max: number): (time: number) => boolean {
  let until = 0
  let left = 0
  return (time) => {
    if (time >= until) {
      until = time + MINUTE_MS
      left = max
    }
    return left > 0 && left-- > 0
  }
}

/** The window that was not used for the longest time, of those that are not limited. */
function oldestOf(windows: Iterable<Window>): Window | undefined {
  let oldest: Window | undefined
  for (const window of windows)
    if (!window.isLimited && !(oldest && oldest.usedAt <= window.usedAt)) oldest = window
  return oldest
}

/** Ends the windows whose time is over. Returns the end of the next one. */
function endDue(windows: Iterable<Window>, time: number, end: (window: Window) => void): number {
  let next = Infinity
  for (const window of windows)
    if (window.endsAt <= time) end(window)
    else next = Math.min(next, window.endsAt)
  return next
}

export function createCollapsing(parts: CollapsingParts): Collapsing {
  const windows = new Map<string, Window>()
  const counts = createCounts(parts)
  /** The number of windows that are not limited. */
  let open = 0
  const mayEndEarly = createBudget(MAX_EARLY)

  const end = ({ key, rest, isLimited }: Window, ms?: number): void => {
    windows.delete(key)
    if (!isLimited) open--
    if (rest) counts.end(rest, ms)
  }
  const ends = createFirstTimer((time) => endDue(windows.values(), time, end))
  let countedAt = 0
  const idle = createFirstTimer((time) => {
    const idleAt = countedAt + (parts.idleMs ?? Infinity)
    if (time < idleAt) return idleAt
    for (const window of windows.values()) if (window.rest) end(window)
    return Infinity
  })
  /** The open window of the key. */
  const find = (key: string, time: number): Window | undefined => {
    const window = windows.get(key)
    if (!window || window.endsAt > time) return window
    end(window)
    return undefined
  }
  /** Ends the window that was not used for the longest time. False if too many have ended early in this minute. */
  const makeRoom = (time: number): boolean => {
    if (!mayEndEarly(time)) return false
    const oldest = oldestOf(windows.values())
    if (oldest) end(oldest)
    return true
  }
  const placed = (call: CountedCall, time: number): CountedCall =>
    call.isLimited || open < MAX_OPEN || makeRoom(time) ? call : unplaced(call)

  return {
    ...createCollapseRules(parts),
    count(call) {
      const time = performance.now()
      const own = find(call.key, time)
      const counting = own ? call : placed(call, time)
      const window = own ?? find(counting.key, time)
      if (!window) return false
      window.usedAt = time
      countedAt = time
      if (parts.idleMs !== undefined) idle.watch(time + parts.idleMs)
      window.rest ??= counts.begin(counting, parts.now())
      counts.count(window.rest, counting)
      return true
    },
    open(call) {
      const time = performance.now()
      const { key, windowMs, isLimited = false } = placed(call, time)
      if (windows.has(key)) return
      if (!isLimited) open++
      windows.set(key, { key, isLimited, endsAt: time + windowMs, usedAt: time, rest: undefined })
      ends.watch(time + windowMs)
    },
    lost({ key }) {
      const window = windows.get(key)
      if (window && !window.rest) end(window)
    },
    counted: (signal) => counts.counted(signal),
    async save() {
      const time = performance.now()
      for (const { key } of windows.values()) find(key, time)
      await counts.save()
    },
    async close(ms) {
      // Each is deleted, which the iteration of a map allows.
      for (const window of windows.values()) end(window, ms())
      ends.clear()
      idle.clear()
      await counts.close()
    },
  }
}
