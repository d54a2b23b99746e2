import type { AuditEvent } from '../../../src/event/event.js'
import { compileFilterInSteps } from '../../../src/filter/evaluate.js'
import { thenDecided } from '../../../src/filter/steps.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { rowToLazyEvent } from '../schema/rows.js'
import type { Tables } from '../schema/tables.js'
import type { IndexedFigures } from './count-by-index.js'

/** Marks the covered slices as counted, and adds the live events that were open, which are in no segment. */
export async function addCovered(
  { connection, live, events }: Tables,
  tally: Tally,
  { covered, open }: Pick<IndexedFigures, 'covered' | 'open'>,
  options: WaitOptions,
): Promise<void> {
  const matches = compileFilterInSteps(tally.shared)
  const slices = createTimeSlices()
  // An event that was closed meanwhile is in the other table.
  const eventAt = (time: Microseconds): AuditEvent | undefined =>
    connection.snapshot(() => {
      const row = live.at(time) ?? events.at(time)
      return row && rowToLazyEvent(row)
    })
  for (const time of open) {
    const slice = covered.find(({ from, to }) => from <= time && time <= to)
    const event = slice && (await connection.retry(() => eventAt(time), options))
    if (!event) continue
    const decision = thenDecided(
      matches(event),
      (isMatch) => isMatch && tally.add(slice.cell, event),
    )
    if (typeof decision !== 'boolean') await slices.finish(decision)
    if (slices.isOver()) await slices.next()
  }
  for (const slice of covered) tally.seen(slice)
}
