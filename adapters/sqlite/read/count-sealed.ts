import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { duplicateTimes } from '../../../src/store-kit/index/duplicate-times.js'
import type { FetchedPart } from '../../../src/store-kit/index/part.js'
import { overlaps } from '../../../src/store-kit/index/time-order.js'
import type { IndexState } from '../../../src/store-kit/maintenance/index-rows.js'
import type { SealedIndex } from '../../../src/store-kit/planning/count-by-index.js'
import type { Sealed } from '../index/log-index.js'
import { readRemoved, removedOrdinals } from '../index/removed-events.js'
import { createTasks, type Indexed, type InSlices } from './session.js'

// With more late events, their times cut the cells into too many parts.
const MAX_LATE = 100

const LATE = `SELECT created_at FROM daybook_late WHERE id > ? AND created_at <= ? LIMIT ${MAX_LATE + 1}`

const NONE_REMOVED = new Uint32Array(0)

/** The segments of one snapshot, and what belongs to them. */
interface Moment extends Sealed {
  readonly counts: IndexState
  readonly late: readonly Microseconds[]
  readonly open: readonly Microseconds[]
}

/** Opens the segments for a count. `undefined` if they have fewer events than `minIndexed`, or too many events came late. */
export async function openSealed(
  { tables: { connection, live }, index }: Pick<Indexed, 'tables' | 'index'>,
  inSlices: InSlices,
  bounds: TimeBounds,
  minIndexed: number,
): Promise<SealedIndex | undefined> {
  let moment: Moment | undefined
  await inSlices((isOver) => {
    const sealed = index.sealed(isOver)
    if (!sealed) return true
    const { sealedLate, sealedTo } = sealed.state
    const late = connection.statement(LATE).raw(true).all(sealedLate, sealedTo) as [Microseconds][]
    moment = {
      ...sealed,
      counts: readRemoved(connection),
      late: late.map(([time]) => time),
      open: live.timesBetween(bounds),
    }
    return false
  })
  const { state, segments, counts, late, open } = moment!
  const builtAt = new Map(state.segments.map((row) => [String(row.id), row.removed]))
  // A damaged segment has no values.
  const usable = segments.filter(({ id }) => builtAt.has(id))
  const size = usable.reduce((sum, part) => sum + part.size, 0)
  if (size < minIndexed || late.length > MAX_LATE) return undefined
  const tasks = createTasks(inSlices, (isOver) => {
    const now = index.sealed(isOver)
    return now && segments.every((segment) => now.segments.includes(segment))
  })
  const removed = await tasks.all(
    usable.map((part) => () => {
      const numbers = { built: builtAt.get(part.id)!, now: counts.removed }
      return removedOrdinals(connection, part, numbers)
    }),
  )
  const removedOf = new Map<FetchedPart, Uint32Array>(usable.map((part, i) => [part, removed[i]!]))
  const counted = usable.map((part) => ({ part, removed: removedOf.get(part)! }))
  const twice = await tasks.one(() => duplicateTimes(counted, MAX_LATE))
  if (!twice) return undefined
  return {
    parts: usable.filter((part) => overlaps(part, bounds)),
    tasks,
    release() {},
    open,
    maxRest: undefined,
    removedFrom: (part) => removedOf.get(part) ?? NONE_REMOVED,
    uncovered: [
      { from: -Infinity, to: counts.removedBefore - 1 },
      ...segments
        .filter((part) => !usable.includes(part))
        .map(({ first, last }) => ({ from: first, to: last })),
      ...[...late, ...twice].map((time) => ({ from: time, to: time })),
      { from: state.sealedTo + 1, to: Infinity },
    ],
  }
}
