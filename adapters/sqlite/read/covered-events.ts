import type { AuditEvent } from '../../../src/event/event.js'
import { compileStoredFilter } from '../../../src/store-kit/stored-filter.js'
import { thenDecided } from '../../../src/filter/steps.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type Slice, sliceAt } from '../../../src/store-kit/counting/slices.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { rowToLazyEvent } from '../schema/rows.js'
import type { Tables } from '../schema/tables.js'
import type { IndexedFigures } from './count-by-index.js'

/** Marks the covered slices as counted, and adds the live events that were open, which are in no segment. */
export async function addCovered(
  tables: Tables,
  tally: Tally,
  { covered, open }: Pick<IndexedFigures, 'covered' | 'open'>,
  options: WaitOptions,
): Promise<void> {
  await addAtTimes(tables, { tally, covered, options }, open)
  for (const slice of covered) tally.seen(slice)
}

interface AddedEvents {
  readonly tally: Tally
  readonly covered: readonly Slice[]
  readonly options: WaitOptions
  /** When to stop, as `performance.now()` counts. @default never */
  readonly end?: number
}

/** Adds the events at these times that are in the covered slices, if they match. False if the time was over before. */
export async function addAtTimes(
  { connection, live, events }: Tables,
  { tally, covered, options, end = Infinity }: AddedEvents,
  times: readonly Microseconds[],
): Promise<boolean> {
  const matches = compileStoredFilter(tally.shared)
  const slices = createTimeSlices()
  // An event that was closed meanwhile is in the other table.
  const eventAt = (time: Microseconds): AuditEvent | undefined =>
    connection.snapshot(() => {
      const row = live.at(time) ?? events.at(time)
      return row && rowToLazyEvent(row)
    })
  for (const time of times) {
    const slice = sliceAt(covered, time)
    const event = slice && (await connection.retry(() => eventAt(time), options))
    if (!event) continue
    const decision = thenDecided(
      matches(event),
      (isMatch) => isMatch && tally.add(slice.cell, event),
    )
    if (typeof decision !== 'boolean') await slices.finish(decision)
    if (!slices.isOver()) continue
    await slices.next()
    if (performance.now() >= end) return false
  }
  return true
}
