import type { AuditEvent } from '../event/event.js'
import type { EventStore, KeptBounds, WaitOptions } from '../store/store.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'
import type { Filter } from './filters.js'
import { scan, ignoreTimeout } from './scan.js'

/** The ids of the open live events. */
export async function openIds(store: EventStore, options: WaitOptions): Promise<Set<string>> {
  const open = await store.openEvents(options)
  return new Set(open.map(({ id }) => id))
}

/** Returns a time. All matching events before this time are due; 0 if no event is due. */
export async function dueBefore(
  store: EventStore,
  filter: Filter | undefined,
  bounds: KeptBounds,
  options: WaitOptions,
): Promise<Microseconds> {
  const { from = 0, rows, bytes } = bounds
  if (rows === undefined && bytes === undefined) return from
  const excess = filter ? undefined : await ignoreTimeout(store.excess(bounds, options))
  if (excess) return excess.before
  return Math.max(from, await beyondNewest(store, filter, bounds, options))
}

/** Reads from the newest event back until the rows or the bytes are used up. */
async function beyondNewest(
  store: EventStore,
  filter: Filter | undefined,
  { from, rows = Infinity, bytes = Infinity }: KeptBounds,
  { signal }: WaitOptions,
): Promise<Microseconds> {
  const open = await openIds(store, { signal })
  let oldestKept: Microseconds | undefined
  let rowsLeft = rows
  let bytesLeft = bytes
  for await (const events of scan(store, { direction: 'desc', filter, signal })) {
    for (const event of events) {
      const time = parseTimestamp(event.created_at)!
      // All older events are due by their age.
      if (from !== undefined && time < from) return 0
      if (open.has(event.id)) continue
      rowsLeft -= 1
      if (bytes !== Infinity) bytesLeft -= bytesOf(event)
      if (rowsLeft < 0 || bytesLeft < 0) return oldestKept ?? time + 1
      oldestKept = time
    }
  }
  return 0
}

function bytesOf({ attributes }: AuditEvent): number {
  return Buffer.byteLength(JSON.stringify(attributes))
}
