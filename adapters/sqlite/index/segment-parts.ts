import type { DamageReporter } from '../../../src/store/damage.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { Connection } from '../connection/connection.js'
import type { LoadedIndex, SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { createRangeParts } from '../../../src/store-kit/maintenance/range-parts.js'
import { DIALECT, runStatement } from './dialect.js'
import { segmentDamage } from '../../../src/store-kit/damages.js'
import { knownNames, readNextNames } from './column-names.js'
import { readSegment } from './segment-reader.js'

/** The segments of a file as parts of the index; of a damaged segment, all events in its range. */
export interface SegmentParts {
  /** Takes the segments of a newer state. Keeps the chunks that were read of segments that stay. */
  update(state: LoadedIndex): void
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
  const ranges = createRangeParts(DIALECT)
  let intact: readonly SegmentRow[] = []
  /** Damaged segments that this process has found. */
  const aside = new Set<number>()
  let reads = 0

  const isAside = ({ id }: SegmentRow): boolean => aside.has(id)

  const partOf = (row: SegmentRow): IndexPart =>
    segments.get(row.id) ?? readSegment(connection, row, () => void (reads += 1))

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
      ranges.update(damaged)
      for (const row of damaged.filter(({ isTrusted }) => !isTrusted)) {
        damages.report(segmentDamage(row, 'the checksum of its row is wrong'))
        onDamaged(row.id)
      }
      for (const id of aside) if (!damaged.some((row) => row.id === id)) aside.delete(id)
    },
    setAside: (segment) => void aside.add(segment),
    readAhead(isOver) {
      if (!readNames(isOver)) return false
      for (let next = ranges.statement(); next; next = ranges.statement()) {
        ranges.add(runStatement(connection, next))
        if (isOver()) return ranges.statement() === undefined
      }
      return true
    },
    all: () => [...segments.values(), ...ranges.parts()],
    reads: () => reads,
  }
}
