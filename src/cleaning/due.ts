import type { AuditEvent } from '../event/event.js'
import type { EventStore, KeptBounds, WaitOptions } from '../store/store.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'
import type { Filter } from './filters.js'
import { scan, unlessTooLong } from './scan.js'

/** The ids of the live events that are open. */
export async function openIds(store: EventStore, options: WaitOptions): Promise<Set<string>> {
  const open = await store.openEvents(options)
  return new Set(open.map(({ id }) => id))
}

/**
 * The time before which all events that match the filter are due, as `due` of the store has it for
 * all events; 0 where none is.
 */
export async function dueBefore(
  store: EventStore,
  filter: Filter | undefined,
  bounds: KeptBounds,
  options: WaitOptions,
): Promise<Microseconds> {
  const { from = 0, rows, bytes } = bounds
  if (rows === undefined && bytes === undefined) return from
  const due = filter ? undefined : await unlessTooLong(store.excess(bounds, options))
  if (due) return due.before
  return Math.max(from, await behindTheNewest(store, filter, bounds, options))
}

/** Goes back from the newest to what goes beyond the rows or the bytes. */
async function behindTheNewest(
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
      // From here on age alone decides.
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
