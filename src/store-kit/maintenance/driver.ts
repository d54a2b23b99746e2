import type { IndexDriver } from '../index-builder/index-driver.js'
import { namesOf, numberColumns } from './column-names.js'
import { deleteSegment, hiddenSegments, hideExpired, markGone } from './dropping.js'
import { type StoredSegment, visibleSegments } from './index-rows.js'
import type { IndexStore, UnsealedRows } from './index-store.js'
import { beginSegment, publish, replace, replaceRebuilt } from './publishing.js'
import { forgetRemoved } from './removed-events.js'
import { nextRebuild, readRange, setDamaged } from './repairs.js'
import { checkPresence, readTimes } from './segment-times.js'

/** The work on the index of a store, which is the same for all stores. */
export function createIndexDriver<Unsealed extends UnsealedRows>(
  store: IndexStore<Unsealed>,
): IndexDriver<Unsealed, StoredSegment> {
  const { dialect, read, write, change } = store
  return {
    ...store,
    numberColumns: (columns) => numberColumns(store, columns),
    beginSegment: (segment) => write(() => beginSegment(dialect, segment)),
    async publish(segment, unsealed) {
      const isPublished = await change(() => publish(dialect, segment, unsealed))
      const { sealedTo, upTo, extract } = unsealed
      if (isPublished)
        await forgetRemoved(store, Math.min(sealedTo, extract.times[0] ?? sealedTo), upTo)
      return isPublished
    },
    visibleSegments: () => read(() => visibleSegments(dialect)),
    readTimes: (segment) => readTimes(store, segment),
    checkPresence: (segments, times) => checkPresence(store, segments, times),
    namesOf: (numbers) => namesOf(store, numbers),
    async replace(parts, merged, duplicates) {
      const isReplaced = await change(() => replace(dialect, parts, merged, duplicates))
      const first = Math.min(...parts.map((part) => part.first))
      if (isReplaced) await forgetRemoved(store, first, Math.max(...parts.map(({ last }) => last)))
      return isReplaced
    },
    repairs: {
      setDamaged: async (id) => void (await change(() => setDamaged(dialect, id))),
      nextRebuild: () => read(() => nextRebuild(dialect)),
      readRange: (from, to, size) => readRange(store, [from, to], size),
      async replaceRebuilt(rebuild, built) {
        const isReplaced = await change(() => replaceRebuilt(dialect, rebuild, built))
        if (isReplaced) await forgetRemoved(store, rebuild.from, rebuild.to)
        return isReplaced
      },
    },
    hiddenSegments: () => read(() => hiddenSegments(dialect)),
    hideExpired: () => hideExpired(store),
    markGone: (id) => write(() => markGone(dialect, id)),
    deleteSegment: (id) => write(() => deleteSegment(dialect, id)),
  }
}
