import type { CountsQuery, EventCounts } from '../../src/store/counts.js'
import { createTally } from '../../src/store-kit/counting/tally.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import type { Timeline } from './timeline.js'

// Events between two pauses.
const EVENTS_PER_SLICE = 5000

/** Counts the matching events. `pause` yields to the event loop, and throws after an abort. */
export async function countEvents(
  timeline: Timeline,
  query: CountsQuery,
  now: Microseconds,
  pause: () => Promise<void>,
): Promise<EventCounts> {
  const [first, last = 0] = timeline.ends ?? []
  const tally = createTally(query, { first, last, now })
  const matches = compileFilter(tally.shared)
  let seen = 0
  for (const slice of tally.rounds.flat()) {
    if (tally.isOver()) break
    const { events, times, from, to } = timeline.between(slice.from, slice.to)
    let end = slice.to
    for (let i = from; i < to; i++) {
      const event = events[i]!
      if (matches(event)) tally.add(slice.cell, event)
      if (++seen % EVENTS_PER_SLICE > 0) continue
      await pause()
      if (!tally.isOver()) continue
      end = times[i]!
      break
    }
    tally.seen({ ...slice, to: end })
  }
  return tally.counts()
}
