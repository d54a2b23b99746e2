import type { AuditEvent } from '../event/event.js'
import { LazyEvent, plainEvent } from '../event/lazy-event.js'
import type { EventPage } from '../store/store.js'

/** Restores unparsed attributes, for a store whose filter has read but not changed them; or without `lazy`, parses them. */
export function lazyPage({ events, truncated }: EventPage, lazy: boolean): EventPage {
  const restored = (event: AuditEvent): AuditEvent =>
    event instanceof LazyEvent ? event.withUnparsedAttributes() : event
  return { events: events.map(lazy ? restored : plainEvent), truncated }
}
