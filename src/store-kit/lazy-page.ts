import { LazyEvent } from '../event/lazy-event.js'
import type { EventPage } from '../store/store.js'

/** Restores unparsed attributes, for a store whose filter has read but not changed them. */
export function lazyPage({ events, truncated }: EventPage): EventPage {
  return {
    events: events.map((event) =>
      event instanceof LazyEvent ? event.withUnparsedAttributes() : event,
    ),
    truncated,
  }
}
