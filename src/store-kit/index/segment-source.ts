import { AuditLogError } from '../../errors.js'
import type { Scalar } from '../../filter/attributes.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { Order } from './part.js'
import type { Wait } from './work.js'

/** States of a segment, as stores write them. */
export const SegmentState = {
  /** Being written, or abandoned by a process that ended. */
  building: 0,
  visible: 1,
  /** Its rows are being removed, and no query begins to read it. */
  gone: 2,
  /** Damaged. Queries read its events one by one, until a round has built it anew. */
  damaged: 3,
} as const

/**
 * The kinds of lists of a name, besides the postings of its values, whose kind is the {@link Kind} of the
 * values. Their keys are numbers. `grams` (grams.ts) list the chunks of the name's texts, if there are many; as a list of
 * `UNNAMED_LISTS`, the names by their texts. The texts of `UNNAMED_LISTS` are the sources (`IndexPart.sources`).
 */
export const ListKind = {
  valued: 3,
  containers: 4,
  partial: 5,
  grams: 6,
  /** The events that have names without a column, by the hash of the name; a list of `UNNAMED_LISTS`. */
  otherNames: 8,
  /** The events that have more names without a column than `otherNames` lists; a list of `UNNAMED_LISTS`. */
  others: 9,
  /** The events that may have more texts than are listed; a list of `UNNAMED_LISTS`. */
  partialTexts: 10,
} as const

/** The kind of chunks that hold blocks of a segment's times. */
export const TIMES_KIND = 7

/** The number in place of a name for the segment's times, below the numbers of all names. */
export const NO_NAME = 0

/** The number in place of a name for lists of events by names without a column, above the numbers of all names. */
export const UNNAMED_LISTS = 2 ** 31 - 1

/** A value in the key of a chunk. Keys of one type sort as the values do. */
export type Key = string | number

export const keyOf = (value: Scalar): Key => (typeof value === 'boolean' ? Number(value) : value)

/**
 * A chunk as a store reads it: the lists of several values from `first` on, with `ordinal` 0; or, if the
 * list of a value is too long for one chunk, a piece of it, whose first event has this ordinal.
 */
export type ChunkValues = readonly [
  first: Key,
  ordinal: number,
  values: string,
  postings: Uint8Array,
]

/** The values of a chunk. */
export interface ChunkLines {
  readonly id: number
  readonly lines: string
  /** Their lists; left out if reading them takes another read. */
  readonly postings?: Uint8Array
}

/** A chunk without its key. */
export interface WholeChunk {
  readonly lines: string
  readonly postings: Uint8Array
}

/** Positions among the chunks of some lists, from 0; `to` is exclusive. */
export interface PlaceRange {
  readonly from: number
  readonly to: number
}

/** `WAIT` if the chunk has to be fetched first, `undefined` if there is none. */
export type FoundChunk = ChunkValues | undefined | Wait

/** Reads the chunks of a segment by their keys. `Lists` identifies the lists of one name and kind. */
export interface ChunkReader<Lists> {
  /**
   * All chunks, or those in the ranges, a few at a time. The ranges are sorted and do not touch; the last
   * one may end after the last chunk.
   */
  inBulk(lists: Lists, places?: readonly PlaceRange[]): Iterable<readonly ChunkLines[] | Wait>
  /** All chunks with their postings, in order, a few at a time, if that takes less than reading them by their keys. */
  whole?(lists: Lists): Iterable<readonly WholeChunk[] | Wait>
  /** The postings of a chunk that `inBulk` has returned without them. */
  postingsOf?(id: number): Uint8Array
  /** The last chunk, or last piece, whose first key is not above the key. */
  floor(lists: Lists, key: Key): FoundChunk
  /**
   * The chunks in the order of their keys, beginning with the one that `from` belongs to. Of a list in pieces, only the piece
   * that comes first in this order.
   */
  walk(lists: Lists, order: Order, from: Key | undefined): Iterable<ChunkValues | Wait>
  /** The last piece of a value's list that begins at the ordinal or before. */
  pieceAt(lists: Lists, key: Key, ordinal: number): FoundChunk
  pieceAfter(lists: Lists, key: Key, ordinal: number): FoundChunk
}

/** Reads a segment from its store. */
export interface SegmentSource<Lists> {
  readonly chunks: ChunkReader<Lists>
  /** Of a name or its number. `undefined` if there are none. Without a name, the lists of `UNNAMED_LISTS`. */
  readonly listsOf: (name: string | number | undefined, kind: number) => Lists | undefined | Wait
  /** The times of a block of {@link TIMES_PER_BLOCK} events. */
  timesOf(block: number): readonly Microseconds[] | Wait
  /** The first time of a block. */
  firstTimeOf(block: number): Microseconds | Wait
}

/** Facts about a segment that a store has before it reads any chunk. */
export interface SegmentInfo {
  readonly id: number
  /** Number of events. */
  readonly size: number
  /** Time of the oldest event. */
  readonly first: Microseconds
  /** Time of the newest event. */
  readonly last: Microseconds
  /** True if some events may have more in an attribute than is listed. */
  readonly isPartial: boolean
}

/** Thrown by reads of a segment that is damaged, or that another process has begun to remove. */
export class DamagedSegment extends AuditLogError {
  readonly segment: number

  constructor(segment: number, reason: string) {
    super('STORE_FAILED', `segment ${segment} of the index is damaged: ${reason}`)
    this.segment = segment
  }
}

export const missingRows = (id: number): DamagedSegment =>
  new DamagedSegment(id, 'rows are missing')

export const damagedNames = (id: number): DamagedSegment =>
  new DamagedSegment(id, 'the name of an attribute is damaged or missing')
