import { setTimeout as delay } from 'node:timers/promises'
import { throwIfAborted } from '../../../src/errors.js'
import type { AuditEvent } from '../../../src/event/event.js'
import type { EventPage } from '../../../src/store/store.js'
import { type FollowOptions, isPassing } from './tail.js'

/** Pause between requests to a feed whose user may not follow it. */
const POLL_MS = 1000

/** The next events after a position, oldest first. */
type ListAfter = (position: string) => Promise<EventPage>

/** Like `followFeed`, but reads lists. For a user who may list events but not follow them. */
export async function* pollFeed(
  list: ListAfter,
  { after, signal = new AbortController().signal, onOutage }: FollowOptions,
): AsyncGenerator<AuditEvent, void, void> {
  let position = after
  let isAway = false
  for (;;) {
    try {
      const { events, truncated } = await list(position)
      if (isAway) onOutage?.(undefined)
      isAway = false
      for (const event of events) {
        position = event.created_at
        yield event
      }
      if (truncated) continue
    } catch (error) {
      throwIfAborted(signal)
      if (!isPassing(error)) throw error
      if (!isAway) onOutage?.(error)
      isAway = true
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => throwIfAborted(signal))
  }
}
