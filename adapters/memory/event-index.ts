import type { AuditEvent } from '../../src/event/event.js'
import { keptSource } from '../../src/store-kit/index/block-source.js'
import { createGrowingIndex, type GrowingIndex } from '../../src/store-kit/index/growing-index.js'
import type { IndexFilter } from '../../src/store-kit/index/index-filter.js'
import type { IndexView } from '../../src/store-kit/index/index-list.js'
import { unindexedPart } from '../../src/store-kit/index/unindexed-part.js'
import { compileMayMatch } from '../../src/store-kit/index/may-match.js'
import type { IndexPart } from '../../src/store-kit/index/part.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import type { LiveEvents } from './live.js'
import type { Timeline } from './timeline.js'

/** The index of a timeline's events, made when somebody first asks for it. */
export interface EventIndex {
  /** As it is now, without parts that are known at once to have nothing of the filter. */
  view(filter: IndexFilter | undefined): IndexView
  /** The event at this time has not come after all others, or has been open. */
  cameLate(time: Microseconds): void
  /** Events have been removed: the index is made anew, and lets go of them. */
  forget(): void
}

// What is asked for the first time is gathered block by block.
const MOST_IN_BLOCK = 32_768
const LEAST_IN_BLOCK = 1024
const BLOCKS = 32

interface Ends {
  readonly first: Microseconds
  readonly last: Microseconds
}

export function createEventIndex(timeline: Timeline, live: LiveEvents): EventIndex {
  let index: GrowingIndex | undefined
  let late: Microseconds[] = []
  /** The parts of the index while these were the ends of the timeline. */
  let known: (Ends & { readonly parts: readonly IndexPart[] }) | undefined

  const eventAt = (time: Microseconds): AuditEvent | undefined => timeline.at(time)
  const timesOf = (ids: readonly string[]): readonly Microseconds[] =>
    ids.flatMap((id) => timeline.find(id)?.time ?? [])

  const blockSize = (): number =>
    Math.min(MOST_IN_BLOCK, Math.max(LEAST_IN_BLOCK, Math.ceil(timeline.size / BLOCKS)))

  const create = (): GrowingIndex => {
    late = []
    return createGrowingIndex(blockSize, keptSource)
  }

  /** Those that were dropped at the old end go block by block. */
  const isWasteful = ({ size }: GrowingIndex): boolean => size > 2 * timeline.size + LEAST_IN_BLOCK

  const refresh = (first: Microseconds): readonly IndexPart[] => {
    if (!index || isWasteful(index)) index = create()
    index.dropUntil(first - 1)
    const { events, times, from, to } = timeline.between(index.last + 1, Infinity)
    for (let i = from; i < to; i++) {
      const event = events[i]!
      if (!live.isOpen(event)) index.add(times[i]!, event)
    }
    for (const time of late) {
      const event = timeline.at(time)
      if (event && !live.isOpen(event)) index.addLate(time, event)
    }
    late = []
    return index.parts()
  }

  /** As they are now; looked for only where events have come or gone. */
  const parts = (): readonly IndexPart[] => {
    const [first, last] = timeline.ends ?? [0, 0]
    const isSame = late.length === 0 && first === known?.first && last === known.last
    if (!isSame) known = { first, last, parts: refresh(first) }
    return known!.parts
  }

  return {
    view(filter) {
      const open = live.list().flatMap(({ id }) => timeline.find(id)?.time ?? [])
      const mayMatch = compileMayMatch(filter)
      const all = parts()
      const some = mayMatch ? all.filter(mayMatch) : all
      return {
        parts: open.length > 0 ? [...some, unindexedPart('open', open)] : some,
        eventAt,
        timesOf,
      }
    },
    cameLate(time) {
      if (index) late.push(time)
    },
    forget() {
      index = undefined
      known = undefined
      late = []
    },
  }
}
