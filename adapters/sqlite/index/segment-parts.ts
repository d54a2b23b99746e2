import type { DamageReporter } from '../../../src/store/damage.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { Connection } from '../connection/connection.js'
import type { IndexState, SqliteSegmentRow } from './index-state.js'
import { createRangePart, type RangePart } from './range-part.js'
import { segmentDamage } from '../../../src/store-kit/damages.js'
import { knownNames, readNextNames } from './column-names.js'
import { readSegment } from './segment-reader.js'

/** The segments of a file as parts of the index; of a damaged segment, all events in its range. */
export interface SegmentParts {
  /** Takes the segments of a newer state. Keeps the chunks that were read of segments that stay. */
  update(state: IndexState): void
  /** Treats the segment as damaged from the next update on. */
  setAside(segment: number): void
  /**
   * Reads the names, and the ranges of damaged segments, until `isOver`; false if there is more to read. Throws
   * `DamagedSegment` if a name is damaged.
   */
  readAhead(isOver: () => boolean): boolean
  /** Call it once all ranges are read. */
  all(): readonly IndexPart[]
  /** Number of chunks that have been read. */
  readonly reads: () => number
}

/** `onDamaged` is called for segments whose row is damaged. */
export function createSegmentParts(
  connection: Connection,
  damages: DamageReporter,
  onDamaged: (segment: number) => void,
): SegmentParts {
  let segments = new Map<number, IndexPart>()
  let ranges = new Map<number, RangePart>()
  let intact: readonly SqliteSegmentRow[] = []
  /** Damaged segments that this process has found. */
  const aside = new Set<number>()
  let reads = 0

  const isAside = ({ id }: SqliteSegmentRow): boolean => aside.has(id)

  const partOf = (row: SqliteSegmentRow): IndexPart =>
    segments.get(row.id) ?? readSegment(connection, row, () => void (reads += 1))

  const rangeOf = (row: SqliteSegmentRow): RangePart =>
    ranges.get(row.id) ?? createRangePart(connection, row)

  const readNames = (isOver: () => boolean): boolean => {
    const known = knownNames(connection)
    for (const row of intact)
      while (readNextNames(connection, known, row)) if (isOver()) return false
    return true
  }

  return {
    update(state) {
      intact = state.segments.filter((row) => !isAside(row))
      const damaged = [...state.damaged, ...state.segments.filter(isAside)]
      segments = new Map(intact.map((row) => [row.id, partOf(row)]))
      ranges = new Map(damaged.map((row) => [row.id, rangeOf(row)]))
      for (const row of damaged.filter(({ isTrusted }) => !isTrusted)) {
        damages.report(segmentDamage(row, 'the checksum of its row is wrong'))
        onDamaged(row.id)
      }
      for (const id of aside) if (!ranges.has(id)) aside.delete(id)
    },
    setAside: (segment) => void aside.add(segment),
    readAhead(isOver) {
      if (!readNames(isOver)) return false
      for (const range of ranges.values()) if (!range.read(isOver)) return false
      return true
    },
    all: () => [...segments.values(), ...[...ranges.values()].map((range) => range.part())],
    reads: () => reads,
  }
}
