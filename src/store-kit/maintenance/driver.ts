import type { Microseconds } from '../../event/timestamp.js'
import type { Column } from '../index/column-table.js'
import { namesOf, numberColumns } from './column-names.js'
import { deleteSegment, hiddenSegments, hideExpired, markGone } from './dropping.js'
import { type SegmentRow, visibleSegments } from './index-rows.js'
import type { IndexStore, NewSegment, UnsealedRows, WrittenSegment } from './index-store.js'
import { beginSegment, publish, replace, replaceRebuilt } from './publishing.js'
import { forgetRemoved } from './removed-events.js'
import { nextRebuild, readRange, type Rebuild, setDamaged } from './repairs.js'
import { checkPresence, readTimes } from './segment-times.js'

/** The work on an index that the index builder plans. */
export type IndexDriver = ReturnType<typeof createIndexDriver>

/**
 * The work on the index of a store, which is the same for all stores. Each method runs one short transaction, or several,
 * so the state may change between two calls: `publish` and `replace` check that their assumptions still hold.
 */
export function createIndexDriver(store: IndexStore) {
  const { dialect, read, write, change } = store
  return {
    ...store,
    numberColumns: (columns: readonly Column[]) => numberColumns(store, columns),
    namesOf: (numbers: readonly number[]) => namesOf(store, numbers),
    beginSegment: (segment: NewSegment) => write(() => beginSegment(dialect, segment)),
    async publish(segment: WrittenSegment | undefined, unsealed: UnsealedRows) {
      const isPublished = await change(() => publish(dialect, segment, unsealed))
      const { sealedTo, upTo, extract } = unsealed
      if (isPublished)
        await forgetRemoved(store, Math.min(sealedTo, extract.times[0] ?? sealedTo), upTo)
      return isPublished
    },
    visibleSegments: () => read(() => visibleSegments(dialect)),
    readTimes: (segment: SegmentRow) => readTimes(store, segment),
    checkPresence: (segments: readonly SegmentRow[], times: readonly Float64Array[]) =>
      checkPresence(store, segments, times),
    async replace(
      parts: readonly SegmentRow[],
      merged: WrittenSegment | undefined,
      duplicates: readonly Microseconds[],
    ) {
      const isReplaced = await change(() => replace(dialect, parts, merged, duplicates))
      const first = Math.min(...parts.map((part) => part.first))
      if (isReplaced) await forgetRemoved(store, first, Math.max(...parts.map(({ last }) => last)))
      return isReplaced
    },
    setDamaged: (id: number) => change(() => setDamaged(dialect, id)),
    nextRebuild: () => read(() => nextRebuild(dialect)),
    readRange: (from: Microseconds, to: Microseconds, size: number) =>
      readRange(store, [from, to], size),
    async replaceRebuilt(rebuild: Rebuild, built: readonly WrittenSegment[]) {
      const isReplaced = await change(() => replaceRebuilt(dialect, rebuild, built))
      if (isReplaced) await forgetRemoved(store, rebuild.from, rebuild.to)
      return isReplaced
    },
    hiddenSegments: () => read(() => hiddenSegments(dialect)),
    hideExpired: () => hideExpired(store),
    markGone: (id: number) => write(() => markGone(dialect, id)),
    deleteSegment: (id: number) => write(() => deleteSegment(dialect, id)),
  }
}
