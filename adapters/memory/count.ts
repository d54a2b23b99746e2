import type { CountsQuery, EventCounts } from '../../src/store/counts.js'
import { createTally } from '../../src/store-kit/counting/tally.js'
import { compileFilterInSteps } from '../../src/filter/evaluate.js'
import { thenDecided } from '../../src/filter/steps.js'
import { createTimeSlices } from '../../src/filter/time-slices.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import type { Timeline } from './timeline.js'

// Events between two checks of the clock.
const CLOCK_STRIDE = 16

/** Counts the matching events. `pause` yields to the event loop, and throws after an abort. */
export async function countEvents(
  timeline: Timeline,
  query: CountsQuery,
  now: Microseconds,
  pause: () => Promise<void>,
): Promise<EventCounts> {
  const [first, last = 0] = timeline.ends ?? []
  const tally = createTally(query, { first, last, now })
  const matches = compileFilterInSteps(tally.shared)
  const timeSlices = createTimeSlices(pause)
  let seen = 0
  for (const slice of tally.rounds.flat()) {
    if (tally.isOver()) break
    const { events, times, from, to } = timeline.between(slice.from, slice.to)
    let end = slice.to
    for (let i = from; i < to; i++) {
      const event = events[i]!
      const decision = thenDecided(
        matches(event),
        (isMatch) => isMatch && tally.add(slice.cell, event),
      )
      if (typeof decision !== 'boolean') await timeSlices.finish(decision)
      if (++seen % CLOCK_STRIDE > 0 || !timeSlices.isOver()) continue
      await timeSlices.next()
      if (!tally.isOver()) continue
      end = times[i]!
      break
    }
    tally.seen({ ...slice, to: end })
  }
  return timeSlices.finish(tally.counts())
}
