import type { AuditEvent, JsonObject } from '../event/event.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { fromBase64, toBase64 } from './base64.js'
import { sha256OfText } from './sha256.js'

/*
 * An import into a log with a ledger is announced by an event before it begins, with the first bytes of the hashes of its events. So
 * a verification tells imported events from others that became visible behind sealed ones.
 */

export const IMPORT = 'info:audit_log:import'

/** Bytes of a hash. */
const TAG = 6
/** Events that one event announces, in 80 kB. */
const MAX_ANNOUNCED = 10_000
const NONE = new Uint8Array()

const tagOf = (id: string, created_at: string): Uint8Array =>
  sha256OfText(NONE, `${id} ${created_at}`).subarray(0, TAG)

/** The data of the events that announce an import. */
export function announcements(
  events: readonly Pick<AuditEvent, 'id' | 'created_at'>[],
): JsonObject[] {
  const data: JsonObject[] = []
  for (let start = 0; start < events.length; start += MAX_ANNOUNCED) {
    const part = events.slice(start, start + MAX_ANNOUNCED)
    const tags = new Uint8Array(TAG * part.length)
    for (const [i, { id, created_at }] of part.entries()) tags.set(tagOf(id, created_at), TAG * i)
    data.push({ count: part.length, events: toBase64(tags) })
  }
  return data
}

const keyOf = (tag: Uint8Array): string => String.fromCharCode(...tag)

/** Adds the events of an announcement. */
export function addImported(known: Set<string>, events: string): void {
  const tags = fromBase64(events) ?? NONE
  for (let at = 0; at + TAG <= tags.length; at += TAG) known.add(keyOf(tags.subarray(at, at + TAG)))
}

/** The text of an announcement that identifies the imported events; `undefined` for other events. */
export const announcedBy = ({ type, system, attributes }: AuditEvent): string | undefined => {
  const events = system && type === IMPORT ? attributes['events'] : undefined
  return typeof events === 'string' && fromBase64(events) ? events : undefined
}

/** Adds what the event announces, if it announces an import. */
export function addAnnounced(known: Set<string>, event: AuditEvent): void {
  const events = announcedBy(event)
  if (events !== undefined) addImported(known, events)
}

export const isAnnounced = (
  known: ReadonlySet<string>,
  { id, time }: { readonly id: string; readonly time: Microseconds },
): boolean => known.has(keyOf(tagOf(id, formatTimestamp(time))))
