import type { AuditEvent } from '../../../src/event/event.js'

/** One stretch of the list: as much as is kept of it. */
export interface Held {
  /** In the order of the list. */
  readonly events: readonly AuditEvent[]
  /** Rows before them; an estimate where they never were here. */
  readonly before: number
  /** Whether the list begins with these. */
  readonly hasFirst: boolean
  /** Whether it ends with them. */
  readonly hasLast: boolean
}

export const HOLDS_NOTHING: Held = { events: [], before: 0, hasFirst: true, hasLast: true }

/** Rows kept; those that leave are loaded again when somebody comes back. */
export const MAX_HELD = 2000

/** Room to scroll on into what is not known yet. */
const ROOM = 20

/** Browsers end elements at 17 million pixels. */
export const MAX_ROWS = 400_000

export function withNext(held: Held, events: readonly AuditEvent[], more: boolean): Held {
  const all = [...held.events, ...events]
  const leaving = Math.max(0, all.length - MAX_HELD)
  return {
    events: all.slice(leaving),
    before: held.before + leaving,
    hasFirst: held.hasFirst && leaving === 0,
    hasLast: !more,
  }
}

export function withPrevious(held: Held, events: readonly AuditEvent[], more: boolean): Held {
  const all = [...events, ...held.events]
  return {
    events: all.slice(0, MAX_HELD),
    before: more ? Math.max(ROOM, held.before - events.length) : 0,
    hasFirst: !more,
    hasLast: held.hasLast && all.length <= MAX_HELD,
  }
}

/** With events that are newer than all of a list whose newest are held, newest first. */
export function withNewest(held: Held, events: readonly AuditEvent[]): Held {
  const [first] = held.events
  const newer = first ? events.filter(({ created_at }) => created_at > first.created_at) : events
  return newer.length === 0 ? held : withPrevious(held, newer, false)
}

/** `around` comes from the two directions away from a place, `row` rows below the list's beginning. */
export function heldAround(
  row: number,
  previous: { readonly events: readonly AuditEvent[]; readonly more: boolean },
  next: { readonly events: readonly AuditEvent[]; readonly more: boolean },
): Held {
  return {
    events: [...previous.events, ...next.events],
    before: previous.more ? Math.max(ROOM, row - previous.events.length) : 0,
    hasFirst: !previous.more,
    hasLast: !next.more,
  }
}

/** With this one in the place of an older state of itself; the same where it is not held. */
export function withChanged(held: Held, event: AuditEvent): Held {
  const at = held.events.findIndex(({ id }) => id === event.id)
  return at < 0 ? held : { ...held, events: held.events.with(at, event) }
}

/** Rows behind those held: what `total` says, as far as it is known. */
export function rowsAfter({ events, before, hasLast }: Held, total: number | undefined): number {
  if (hasLast) return 0
  const known = before + events.length
  return Math.max(ROOM, Math.min(total ?? 0, MAX_ROWS) - known)
}
