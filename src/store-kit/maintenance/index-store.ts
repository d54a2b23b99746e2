import type { Microseconds } from '../../event/timestamp.js'
import type { Chunk } from '../index/chunks.js'
import type { Extract, ExtractedRow } from '../index/extract.js'
import type { IndexBounds } from '../index/index-bounds.js'
import type { Dialect, SealedChange } from './dialect.js'
import type { SegmentRow } from './index-rows.js'
import type { Program } from './program.js'

/** Events for one new segment, and the state of the index when they were read. */
export interface UnsealedRows extends Partial<SealedChange> {
  /** Empty if all of the events have been removed since they were listed. */
  readonly extract: Extract
  readonly removed: number
  readonly version: number
  /** The end of the sealed events. */
  readonly sealedTo: Microseconds
  /** The events include all events after `sealedTo` up to this time. */
  readonly upTo: Microseconds
  /** The ids of the late events among them, also of those that were removed. */
  readonly late: readonly number[]
}

export interface NewSegment {
  readonly level: number
  /** Times of its events, ascending; at least one. */
  readonly times: ArrayLike<Microseconds>
  /** The count of removed events when they were read. */
  readonly removed: number
  readonly isPartial: boolean
}

/** A segment that is being written. */
export interface BuildingSegment {
  readonly id: number
  /** Number of its events. */
  readonly size: number
}

/** A segment after its last chunk was written. */
export interface WrittenSegment {
  readonly id: number
  /** Number of its chunks, blocks of times included. */
  readonly chunks: number
  /** True if another process marked the segment as gone while it was written. */
  readonly isLost: boolean
}

/** A chunk of the lists of one name and kind. */
export interface NamedChunk {
  readonly name: number
  readonly kind: number
  readonly chunk: Chunk
}

/** A chunk that is read for merging. */
export interface FeedChunk {
  readonly name: number
  readonly kind: number
  readonly values: string
  readonly postings: Uint8Array
}

/** The chunks of one segment in the order of their keys, without its times and lists of grams. */
export interface ChunkFeed {
  /** False if the next chunk has to be fetched first. */
  isReady(): boolean
  /** The next chunk; `undefined` after the last one. Call it only if the feed is ready. */
  head(): FeedChunk | undefined
  /** Moves on to the chunk after the head. */
  advance(): void
}

export interface ChunkFeeds {
  /** One for each segment, in the same order. */
  readonly feeds: readonly ChunkFeed[]
  /** Fetches further chunks for the feeds that are not ready. */
  readonly fetch: () => Promise<void>
}

/** The limits of one transaction that writes chunks, so that it takes a few milliseconds. */
export interface BatchLimits {
  readonly bytes: number
  readonly rows: number
}

/**
 * An index as its store keeps it: its SQL, its transactions, and the rows that both stores keep differently. All else of
 * the index is the same for all stores, see `createIndexDriver`.
 */
export interface IndexStore {
  readonly dialect: Dialect
  /** The rests of the index builder; see `StepRunner`. */
  readonly steps: { isSliceOver(): boolean; pause(): Promise<void> }
  readonly bounds: IndexBounds
  readonly batchLimits: BatchLimits
  /** Bytes of a chunk of values. @default MAX_CHUNK_BYTES */
  readonly maxChunkBytes?: number | undefined
  /** True if chunks are written while the next ones are computed. @default false */
  readonly isWriteBehind?: boolean | undefined
  /** True if sealed segments get lists of grams too, not only merged ones. */
  readonly hasGramsWhenSealed: boolean
  /** Runs a program that only reads. Its statements may see different moments. */
  readonly read: <Result>(program: () => Program<Result>) => Promise<Result>
  /** Runs a program, each of whose statements may be a transaction of its own. */
  readonly write: <Result>(program: () => Program<Result>) => Promise<Result>
  /** Runs a program in one short transaction, which is durable. */
  readonly change: <Result>(program: () => Program<Result>) => Promise<Result>
  /** True if `size` events may be unsealed. */
  isSealDue(size: number): Promise<boolean>
  /**
   * The late events, oldest first, then the oldest others, up to `size` in all; `undefined` if there are fewer
   * than `atLeast`, and not as many bytes as a segment may have.
   */
  readUnsealed(size: number, atLeast: number): Promise<UnsealedRows | undefined>
  /** The next events after a time and up to another, in the order of their times; fewer than `max` only at the end. */
  readonly readEvents: (
    after: Microseconds,
    to: Microseconds,
    max: number,
  ) => Promise<readonly ExtractedRow[]>
  /**
   * Adds chunks, the first of which is the `from`th of the segment. False, without effect, if the segment
   * is not being built any more.
   */
  insertChunks(
    segment: BuildingSegment,
    from: number,
    chunks: readonly NamedChunk[],
  ): Promise<boolean>
  /**
   * The blocks of a segment's times with the numbers from `from` to `end`, exclusive. Throws `DamagedSegment` unless they
   * are as they were written.
   */
  readBlocks(id: number, from: number, end: number): Promise<readonly (readonly Microseconds[])[]>
  openFeeds(segments: readonly SegmentRow[]): ChunkFeeds
  /** The numbers of the names that have lists in the segment, ascending. */
  listedNames(segment: SegmentRow): Promise<readonly number[]>
  /** The chunks of the lists of one name and kind in a segment. */
  readChunks(segment: SegmentRow, name: number, kind: number): Promise<readonly FeedChunk[]>
  /** Removes the chunks and times of a segment that is gone. */
  deleteChunks(id: number): Promise<void>
  /** Stores sealed events in less space, some at a time; false if there are none left. Some stores have none. */
  pack?(): Promise<boolean>
}
