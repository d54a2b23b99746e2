import { type IndexPart, Kind } from '../../src/store-kit/index/part.js'
import { NONE } from '../../src/store-kit/index/postings.js'

/** The state of a log's index at one moment, from all of its rows. */
export interface IndexTruth {
  /** Level and size of each visible segment, by its first event. */
  readonly segments: readonly (readonly [level: number, size: number])[]
  /** Number of segments that are not visible. */
  readonly hidden: number
  readonly unsealed: number
  /** Times of sealed events that no visible segment finds by their type. */
  readonly missing: readonly number[]
  /** Faults of the tables. */
  readonly damage: readonly string[]
}

/** An event as the tables have it. */
export interface TruthRow {
  readonly time: number
  readonly type: string
  readonly isUnsealed: boolean
}

const keyOf = (time: number, type: string): string => `${time} ${type}`

/** Compares the events with the events that the visible segments find. */
export function compareEvents(
  parts: readonly IndexPart[],
  rows: readonly TruthRow[],
): Pick<IndexTruth, 'unsealed' | 'missing'> {
  const found = new Set<string>()
  for (const part of parts)
    for (const entry of part.values('type', Kind.text, 'asc')) {
      const ordinals = entry.postings()
      for (let at = ordinals.seek(0, 1)!; at !== NONE; at = ordinals.seek(at + 1, 1)!)
        found.add(keyOf(part.timeOf(at), String(entry.value)))
    }
  return {
    unsealed: rows.filter(({ isUnsealed }) => isUnsealed).length,
    missing: rows
      .filter(({ time, type, isUnsealed }) => !isUnsealed && !found.has(keyOf(time, type)))
      .map(({ time }) => time),
  }
}

export const eventCount = ({ segments }: IndexTruth): number =>
  segments.reduce((sum, [, size]) => sum + size, 0)
