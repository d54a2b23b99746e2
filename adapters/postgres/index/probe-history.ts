import { LRUCache } from 'lru-cache'
import { type IndexFilter, isLookup } from '../../../src/store-kit/index/index-filter.js'

/**
 * What the last query with a filter of the same shape needed: only the rows of the probe at its start, those
 * and the index, or only the index because no row of the probe matched.
 */
export type ProbeResult = 'rows' | 'both' | 'index'

/** Remembers for each shape of a filter, whatever its values, what the last query needed. */
export interface ProbeHistory {
  of(filter: IndexFilter): ProbeResult
  note(filter: IndexFilter, result: ProbeResult): void
}

const MAX_SHAPES = 1000
const MAX_KEY_LENGTH = 500

function shapeOf(filter: IndexFilter): string {
  if ('parts' in filter) return `${filter.combinator}(${filter.parts.map(shapeOf).join()})`
  return 'find' in filter ? `${filter.find.by} ${filter.name}` : Object.keys(filter).join()
}

const keyOf = (filter: IndexFilter): string => shapeOf(filter).slice(0, MAX_KEY_LENGTH)

export function createProbeHistory(): ProbeHistory {
  const results = new LRUCache<string, ProbeResult>({ max: MAX_SHAPES })
  return {
    of: (filter) => results.get(keyOf(filter)) ?? 'both',
    note(filter, result) {
      // An index search that takes many reads is not started before a probe, which may be enough.
      results.set(keyOf(filter), result === 'index' && !isLookup(filter) ? 'both' : result)
    },
  }
}
