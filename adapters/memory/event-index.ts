import type { AuditEvent } from '../../src/event/event.js'
import { type BlockSource, keptSource } from '../../src/store-kit/index/block-source.js'
import { createGrowingIndex, type GrowingIndex } from '../../src/store-kit/index/growing-index.js'
import type { IndexFilter } from '../../src/store-kit/index/index-filter.js'
import type { IndexView } from '../../src/store-kit/index/index-list.js'
import { unindexedPart } from '../../src/store-kit/index/unindexed-part.js'
import { compilePartTest } from '../../src/store-kit/index/part-test.js'
import type { IndexPart } from '../../src/store-kit/index/part.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import { manyValuesIn } from './frozen.js'
import type { Steps } from '../../src/filter/steps.js'
import type { LiveEvents } from './live.js'
import type { Timeline } from './timeline.js'

/** The index of a timeline's events, created when it is first used. */
export interface EventIndex {
  /** The current index, without parts that certainly have no match for the filter. The first use adds all events. */
  view(filter: IndexFilter | undefined): Steps<IndexView>
  /** Must be called for an event that was not appended as the newest, or that was open until now. */
  addLate(time: Microseconds): void
  /** Must be called after events were removed. The next use creates a new index. */
  reset(): void
}

// Attributes are indexed block by block when a query first uses them.
const MAX_BLOCK_SIZE = 32_768
const MIN_BLOCK_SIZE = 1024
const BLOCKS = 32

// Bounds the time of reading one attribute of a block: some 300,000 values.
const MAX_BLOCK_BYTES = 16 * 2 ** 20

/** Events that are added without a pause. */
const ADDED_AT_ONCE = 4096

/** A budget that is always used up, so that each step of the index ends. */
const always = (): boolean => true

const createSource = (): BlockSource => keptSource(({ attributes }) => manyValuesIn(attributes))

/** The times of the first and the last event of a timeline. */
interface Ends {
  readonly first: Microseconds
  readonly last: Microseconds
}

export function createEventIndex(timeline: Timeline, live: LiveEvents): EventIndex {
  let index: GrowingIndex | undefined
  let late: Microseconds[] = []
  /** The parts, while the timeline has the same first and last event. */
  let cached: (Ends & { readonly parts: readonly IndexPart[] }) | undefined

  const eventAt = (time: Microseconds): AuditEvent | undefined => timeline.at(time)
  const timesOf = (ids: readonly string[]): readonly Microseconds[] =>
    ids.flatMap((id) => timeline.find(id)?.time ?? [])

  const blockSize = (): number =>
    Math.min(MAX_BLOCK_SIZE, Math.max(MIN_BLOCK_SIZE, Math.ceil(timeline.size / BLOCKS)))

  const create = (): GrowingIndex => {
    late = []
    return createGrowingIndex(blockSize, createSource, MAX_BLOCK_BYTES)
  }

  /** True if the index has many dropped events. It can only drop complete blocks. */
  const isWasteful = ({ size }: GrowingIndex): boolean => size > 2 * timeline.size + MIN_BLOCK_SIZE

  /** Adds the next events. Returns the parts once there are no more events. */
  const refreshSome = (first: Microseconds): readonly IndexPart[] | undefined => {
    if (!index || isWasteful(index)) index = create()
    if (!index.finish(always)) return undefined
    index.dropUntil(first - 1)
    const isWhole = addNew(index, timeline, live) && addLate(index, late, timeline, live)
    return isWhole ? index.parts(always) : undefined
  }

  /** The current parts; refreshed only if events were added or removed. */
  function* currentParts(): Steps<readonly IndexPart[]> {
    for (;;) {
      // Other queries, additions and removals may run during the pauses.
      const [first, last] = timeline.ends ?? [0, 0]
      const isSame = late.length === 0 && first === cached?.first && last === cached.last
      if (isSame) return cached!.parts
      const parts = refreshSome(first)
      if (parts) cached = { first, last, parts }
      else yield
    }
  }

  function* view(filter: IndexFilter | undefined): Steps<IndexView> {
    const mayMatch = compilePartTest(filter)
    const parts = yield* currentParts()
    const open = live.list().flatMap(({ id }) => timeline.find(id)?.time ?? [])
    const some = mayMatch ? parts.filter(mayMatch) : parts
    return {
      parts: open.length > 0 ? [...some, unindexedPart('open', open)] : some,
      eventAt,
      timesOf,
    }
  }

  return {
    view,
    addLate(time) {
      cached = undefined
      // Later events are added in order.
      if (index && time <= index.last) late.push(time)
    },
    reset() {
      index = undefined
      cached = undefined
      late = []
    },
  }
}

/** Adds events that are later than the events of the index. Returns false if there are more. */
function addNew(index: GrowingIndex, timeline: Timeline, live: LiveEvents): boolean {
  const { events, times, from, to } = timeline.between(index.last + 1, Infinity)
  let added = 0
  for (let i = from; i < to; i++) {
    const event = events[i]!
    if (live.isOpen(event)) continue
    if (added++ === ADDED_AT_ONCE) return false
    index.add(times[i]!, event)
    if (!index.finish(always)) return false
  }
  return true
}

/** Takes late events from the list and adds them. Returns false if there are more. */
function addLate(
  index: GrowingIndex,
  late: Microseconds[],
  timeline: Timeline,
  live: LiveEvents,
): boolean {
  for (let added = 0; late.length > 0; added++) {
    if (added === ADDED_AT_ONCE) return false
    const time = late.pop()!
    const event = timeline.at(time)
    if (event && !live.isOpen(event)) index.addLate(time, event)
    if (!index.finish(always)) return false
  }
  return true
}
