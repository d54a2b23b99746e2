import { milliseconds } from 'date-fns/milliseconds'
import type { Channel } from './channel.js'
import type { SizedEvent } from './feed.js'

/** The limits of a channel's batches. */
export interface BatchBounds {
  readonly maxEvents: number
  readonly maxBytes: number
  readonly maxWaitMs: number
}

const MAX_EVENTS = 100

export const batchBoundsOf = ({ batch = {} }: Channel): BatchBounds => ({
  maxEvents: batch.maxEvents ?? MAX_EVENTS,
  maxBytes: batch.maxBytes ?? Infinity,
  maxWaitMs: batch.maxWait === undefined ? 0 : milliseconds(batch.maxWait),
})

/**
 * Number of events in the next batch: at least one, and at most as many as the bounds allow. With a boundary, the batch
 * has all events up to this `created_at`, because an earlier attempt contained them.
 */
export function batchLength(
  events: readonly SizedEvent[],
  { maxEvents, maxBytes }: BatchBounds,
  boundary: string | undefined,
): number {
  if (boundary !== undefined) {
    const end = events.findIndex(({ event }) => event.created_at > boundary)
    return end === -1 ? events.length : end
  }
  let bytes = 0
  let length = 0
  for (const one of events) {
    bytes += one.bytes
    if (length > 0 && (length >= maxEvents || bytes > maxBytes)) break
    length += 1
  }
  return length
}

/** True if no further event fits into the batch. */
export function isFull(events: readonly SizedEvent[], bounds: BatchBounds): boolean {
  const length = batchLength(events, bounds, undefined)
  return length < events.length || length >= bounds.maxEvents
}
