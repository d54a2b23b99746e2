import type { AuditEvent } from '../../src/event/event.js'
import type { KeptBounds } from '../../src/store/store.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import type { EventRange } from './timeline.js'

/**
 * Returns the time of the oldest event that all bounds keep. Earlier events are in excess. If the bounds keep no
 * event, the time is just after the newest event; if they keep all, it is 0 or `from`. Yields after each event, so
 * that the caller can pause.
 */
export function* excessBefore(
  { events, times, from, to }: EventRange,
  counts: (event: AuditEvent) => boolean,
  bounds: KeptBounds,
): Generator<void, Microseconds> {
  const since = bounds.from ?? 0
  let rows = bounds.rows ?? Infinity
  let bytes = bounds.bytes ?? Infinity
  if (rows === Infinity && bytes === Infinity) return since
  let oldest: Microseconds | undefined
  for (let i = to - 1; i >= from; i--) {
    const [time, event] = [times[i]!, events[i]!]
    if (counts(event)) {
      rows -= 1
      if (bytes !== Infinity) bytes -= Buffer.byteLength(JSON.stringify(event.attributes))
      if (rows < 0 || bytes < 0) return Math.max(since, oldest ?? time + 1)
      oldest = time
    }
    yield
  }
  return since
}
