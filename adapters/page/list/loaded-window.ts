import type { AuditEvent } from '../../../src/event/event.js'

/** The loaded part of the list: a window of consecutive rows. */
export interface LoadedWindow {
  /** The events in list order. */
  readonly events: readonly AuditEvent[]
  /** The number of rows before the window. An estimate if they were never loaded. */
  readonly before: number
  /** True if the window includes the first row of the list. */
  readonly hasFirst: boolean
  /** True if the window includes the last row of the list. */
  readonly hasLast: boolean
}

export const EMPTY_WINDOW: LoadedWindow = { events: [], before: 0, hasFirst: true, hasLast: true }

/** The maximum number of loaded rows. Dropped rows are loaded again when scrolled to. */
export const MAX_LOADED_ROWS = 2000

/** Rows of empty space to scroll into while the number of rows is unknown. */
const ROOM = 20

/** Browsers limit the height of elements to 17 million pixels. */
export const MAX_LIST_ROWS = 400_000

export function withNext(
  loaded: LoadedWindow,
  events: readonly AuditEvent[],
  more: boolean,
): LoadedWindow {
  const all = [...loaded.events, ...events]
  const leaving = Math.max(0, all.length - MAX_LOADED_ROWS)
  return {
    events: all.slice(leaving),
    before: loaded.before + leaving,
    hasFirst: loaded.hasFirst && leaving === 0,
    hasLast: !more,
  }
}

export function withPrevious(
  loaded: LoadedWindow,
  events: readonly AuditEvent[],
  more: boolean,
): LoadedWindow {
  const all = [...events, ...loaded.events]
  return {
    events: all.slice(0, MAX_LOADED_ROWS),
    before: more ? Math.max(ROOM, loaded.before - events.length) : 0,
    hasFirst: !more,
    hasLast: loaded.hasLast && all.length <= MAX_LOADED_ROWS,
  }
}

/** Adds events that are newer than the first row. The window must include the first row. */
export function withNewest(loaded: LoadedWindow, events: readonly AuditEvent[]): LoadedWindow {
  const [first] = loaded.events
  const newer = first ? events.filter(({ created_at }) => created_at > first.created_at) : events
  return newer.length === 0 ? loaded : withPrevious(loaded, newer, false)
}

/** A window made of the pages before and after a place that is `row` rows below the start of the list. */
export function windowAround(
  row: number,
  previous: { readonly events: readonly AuditEvent[]; readonly more: boolean },
  next: { readonly events: readonly AuditEvent[]; readonly more: boolean },
): LoadedWindow {
  return {
    events: [...previous.events, ...next.events],
    before: previous.more ? Math.max(ROOM, row - previous.events.length) : 0,
    hasFirst: !previous.more,
    hasLast: !next.more,
  }
}

/** Replaces an event by its new state. Returns the same window if the event is not loaded. */
export function withChanged(loaded: LoadedWindow, event: AuditEvent): LoadedWindow {
  const at = loaded.events.findIndex(({ id }) => id === event.id)
  return at < 0 ? loaded : { ...loaded, events: loaded.events.with(at, event) }
}

/** The number of rows after the window, from `total` if known. */
export function rowsAfter(
  { events, before, hasLast }: LoadedWindow,
  total: number | undefined,
): number {
  if (hasLast) return 0
  const known = before + events.length
  return Math.max(ROOM, Math.min(total ?? 0, MAX_LIST_ROWS) - known)
}
