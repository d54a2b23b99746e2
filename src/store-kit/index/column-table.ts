import { isStorableText } from '../../event/json-copy.js'
import type { Scalar } from '../../filter/attributes.js'
import { PAIR_BYTES } from './other-names.js'

/** The values of one attribute of some events, in the order in which the events were added. */
export interface Column {
  readonly name: string
  /** `values[i]` belongs to the event with ordinal `ordinals[i]`; an event may have several values. */
  readonly values: readonly Scalar[]
  readonly ordinals: readonly number[]
  /** Ordinals of the events in which the name leads to an object or array that is not empty. */
  readonly containers: readonly number[]
  /** Ordinals of the events that may have more in the attribute than is listed. */
  readonly partial: readonly number[]
}

export interface GrowingColumn extends Column {
  /** Number of events that have a value. */
  events: number
  readonly values: Scalar[]
  readonly ordinals: number[]
  readonly containers: number[]
  readonly partial: number[]
}

/** The columns of a part. */
export interface ColumnTable {
  readonly byName: ReadonlyMap<string, GrowingColumn>
  /** Approximate memory, without the values. */
  readonly bytes: number
  /**
   * The column of the name, which is added if there is room; `undefined` for a name without a column.
   * `hash` is the hash of the name.
   */
  readonly columnOf: (name: string, hash: number) => GrowingColumn | undefined
  /** The column of an own field. */
  readonly ownColumn: (name: string) => GrowingColumn
  /** True if many names that were met again got no column. */
  isCrowded(): boolean
  /** Takes the columns from those names that the fewest events have. Returns the columns. */
  evict(): readonly GrowingColumn[]
}

export const emptyColumn = (name: string): GrowingColumn => ({
  name,
  events: 0,
  values: [],
  ordinals: [],
  containers: [],
  partial: [],
})

const COLUMN_BYTES = 600

/** Evicting costs a pass through all columns, so it waits until names got none as often as a quarter of their number. */
const REFUSED_SHIFT = 2

/**
 * At most `maxNames` names get columns, as they are met. Once half of the columns are given, a name gets one
 * only if it is met again, so that names that occur once leave room for frequent names. Names that few events
 * have give up their columns to others that are met again, so a few events with many names keep no column for long.
 * A new column begins with the `others` as partial events.
 */
export function createColumnTable(maxNames: number, others: readonly number[]): ColumnTable {
  const byName = new Map<string, GrowingColumn>()
  const own = new Set<GrowingColumn>()
  const wasMet = createMemory()
  let bytes = 0
  let refused = 0

  const addColumn = (name: string): GrowingColumn => {
    bytes += COLUMN_BYTES + name.length + others.length * PAIR_BYTES
    const column = { ...emptyColumn(name), partial: [...others] }
    byName.set(name, column)
    return column
  }
  const isAdmitted = (name: string, hash: number): boolean => {
    if (!isStorableText(name)) return false
    if (byName.size * 2 < maxNames) return true
    if (!wasMet(hash)) return false
    if (byName.size < maxNames) return true
    refused += 1
    return false
  }
  return {
    byName,
    get bytes() {
      return bytes
    },
    columnOf: (name, hash) =>
      byName.get(name) ?? (isAdmitted(name, hash) ? addColumn(name) : undefined),
    ownColumn(name) {
      const column = byName.get(name) ?? addColumn(name)
      own.add(column)
      return column
    },
    isCrowded: () => refused > maxNames >> REFUSED_SHIFT,
    evict() {
      refused = 0
      const columns = [...byName.values()].filter((column) => !own.has(column))
      const fewest = columns.toSorted((a, b) => a.events - b.events).slice(0, maxNames >> 1)
      for (const { name } of fewest) byName.delete(name)
      return fewest
    },
  }
}

/** Names that are remembered, as hashes: 64 KiB. */
const REMEMBERED = 16_384

/** Remembers hashes: returns true for a hash that was met before. Each may replace one that was met earlier, so false is possible too. */
function createMemory(): (hash: number) => boolean {
  let hashes: Uint32Array | undefined
  return (hash) => {
    hashes ??= new Uint32Array(REMEMBERED)
    const slot = hash % REMEMBERED
    const isKnown = hashes[slot] === hash
    hashes[slot] = hash
    return isKnown
  }
}
