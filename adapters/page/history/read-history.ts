import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import type { Operation } from '../../../src/event/json-patch.js'
import { eventOf, type EventResource, getJson } from '../data/api.js'

/** A change as a history shows it. */
export interface Change {
  /** True if the state after the change is known. */
  readonly known: boolean
  /** The state after the change; null if the resource does not exist, or if the state is not known. */
  readonly state: JsonValue
  /** Null if the event holds only a part of the change. */
  readonly patch: readonly Operation[] | null
  /** The patch that undoes the change; null if this is not possible. */
  readonly revert: readonly Operation[] | null
  readonly not_revertible?: string
}

export interface HistoryEntry {
  readonly event: AuditEvent
  readonly change: Change
}

/** A page of the changes of a resource. */
export interface History {
  /** Newest first. */
  readonly entries: readonly HistoryEntry[]
  /** The number of all changes until the requested time. */
  readonly total: number
  /** True if the user sees only a part of the log. */
  readonly restricted: boolean
  /** The query string of the page before. */
  readonly earlier: string | undefined
}

interface HistoryDocument {
  readonly data: readonly (EventResource & { readonly meta: { readonly change: Change } })[]
  readonly meta: { readonly total: number; readonly restricted: boolean }
  readonly links: { readonly prev?: string }
}

export async function readHistory(query: string, signal: AbortSignal): Promise<History> {
  const { data, meta, links } = await getJson<HistoryDocument>(`/history?${query}`, signal)
  const entries = data.map((resource) => ({
    event: eventOf(resource),
    change: resource.meta.change,
  }))
  return { ...meta, entries: entries.toReversed(), earlier: links.prev?.replace(/^[^?]*\?/, '') }
}
