import type { Scalar } from '../../filter/attributes.js'
import type { Microseconds } from '../../event/timestamp.js'

/**
 * What the lists of a name are of: a {@link Kind} of values, or one of these. All but those of texts have
 * numbers for values; `grams` (grams.ts) are of the chunks of the name's texts, where there are many.
 */
export const ListKind = { valued: 3, containers: 4, unindexed: 5, grams: 6 } as const

/** What a value is in the keys of chunks. Those of one type are in the order of the values. */
export type Key = string | number

export const keyOf = (value: Scalar): Key => (typeof value === 'boolean' ? Number(value) : value)

/** A chunk as it is read: of pieces that of the highest ordinals has the highest `ordinal`. */
export type ChunkValues = readonly [
  first: Key,
  ordinal: number,
  values: string,
  postings: Uint8Array,
]

/** The values of a chunk, without their lists. */
export interface ChunkLines {
  readonly id: number
  readonly lines: string
}

/** Places among the chunks of some lists, of which the first is at 0; `to` is behind the last of them. */
export interface PlaceRange {
  readonly from: number
  readonly to: number
}

/** The chunks of a segment's lists, by their keys. `Lists` are those of one name and kind. */
export interface ChunkReader<Lists> {
  /**
   * All of them, or those at the places alone, some at a time. The ranges are in order, apart from each
   * other, and the last one may end behind the last chunk.
   */
  inBulk(lists: Lists, places?: readonly PlaceRange[]): Iterable<readonly ChunkLines[]>
  /** One of these, whole. */
  at(id: number, lines: string): ChunkValues
  /** The last chunk that begins with the key, or before; of pieces that of the highest ordinals. */
  floor(lists: Lists, key: Key): ChunkValues | undefined
  /** As `floor` for each of the keys, which are few: for a store that fetches them together. */
  floors(lists: Lists, keys: readonly Key[]): readonly (ChunkValues | undefined)[]
  before(lists: Lists, key: Key): ChunkValues | undefined
  after(lists: Lists, key: Key): ChunkValues | undefined
  first(lists: Lists): ChunkValues | undefined
  last(lists: Lists): ChunkValues | undefined
  /** Of the pieces of a value the last one that begins at the ordinal, or before. */
  pieceAt(lists: Lists, key: Key, ordinal: number): ChunkValues | undefined
  pieceAfter(lists: Lists, key: Key, ordinal: number): ChunkValues | undefined
}

/** Where a store keeps a segment. */
export interface SegmentSource<Lists> {
  readonly chunks: ChunkReader<Lists>
  /** `undefined` where there are none; without a name those of the segment itself. */
  readonly listsOf: (name: string | undefined, kind: number) => Lists | undefined
  /** The times of a block of {@link BLOCK} events, and the first of them alone. */
  timesOf(block: number): readonly Microseconds[]
  firstTimeOf(block: number): Microseconds
}

/** A segment as its store knows it without reading it. */
export interface SegmentInfo {
  readonly id: number
  readonly size: number
  /** The times of the oldest event and of the newest. */
  readonly first: Microseconds
  readonly last: Microseconds
}
