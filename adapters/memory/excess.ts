import type { AuditEvent } from '../../src/event/event.js'
import type { KeptBounds } from '../../src/store/store.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import type { EventRange } from './timeline.js'

/**
 * The time before which everything is due: that of the oldest event which all of the bounds keep.
 * Right behind the newest where they keep none; 0, or `from`, where they keep all. Yields now and
 * then, so that others get their turn.
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
