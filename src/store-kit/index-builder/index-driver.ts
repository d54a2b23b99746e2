import type { Microseconds } from '../../event/timestamp.js'
import type { Column } from '../index/column-table.js'
import type { Extract } from '../index/extract.js'
import type { SegmentInfo } from '../index/segment-source.js'
import type { NamedChunk } from './column-chunks.js'

/** A visible segment. */
export interface SegmentRow extends SegmentInfo {
  /** 0 for a sealed segment, or `EARLY_LEVEL`; a merged segment is one level above its highest part. */
  readonly level: number
}

/** Events for one new segment, as they were at one moment. */
export interface UnsealedEvents {
  /** Empty if all of the events have been removed since they were listed. */
  readonly extract: Extract
  /** The store's count of removed events at that moment, if it keeps one. */
  readonly removed?: number | undefined
}

/** A column and the store's number for its name. */
export type NumberedColumn = readonly [number: number, column: Column]

/** Which events of the segments to be merged still exist. */
export interface Presence {
  isPresent(time: Microseconds): boolean
  /** The store's count of removed events when the events were looked up, if it keeps one. */
  readonly removed?: number | undefined
}

export interface NewSegment {
  readonly level: number
  /** Times of its events, ascending; at least one. */
  readonly times: ArrayLike<Microseconds>
  readonly removed: number | undefined
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

/** Segments that are built anew from the events of a time range. */
export interface Rebuild {
  readonly segments: readonly SegmentInfo[]
  readonly from: Microseconds
  readonly to: Microseconds
  /** True if these are all segments, because that was requested. */
  readonly isWhole: boolean
}

/** Work that a store does to repair its index. */
export interface Repairs {
  /** Makes queries read the events of a visible segment one by one until it is built anew. */
  setDamaged(id: number): Promise<void>
  /** Returns the next part to build anew; `undefined` if there is none. */
  nextRebuild(): Promise<Rebuild | undefined>
  /** The first `size` events within the times, or fewer if a segment has no room for more. */
  readRange(from: Microseconds, to: Microseconds, size: number): Promise<UnsealedEvents>
  /**
   * In one transaction: replaces the segments by the ones that were built from the same events. False, without
   * effect, if any of them is gone.
   */
  replaceRebuilt(rebuild: Rebuild, built: readonly WrittenSegment[]): Promise<boolean>
}

/** The limits of one transaction that writes chunks, so that it takes a few milliseconds. */
export interface BatchLimits {
  readonly bytes: number
  readonly rows: number
}

/**
 * Work that a store does for the index builder. Each method runs one short transaction, or several, so the
 * state may change between two calls: `publish` and `replace` check that their assumptions still hold.
 */
export interface IndexDriver<
  Unsealed extends UnsealedEvents = UnsealedEvents,
  Segment extends SegmentRow = SegmentRow,
> {
  readonly batchLimits: BatchLimits
  /** Bytes of a chunk of values. @default MAX_CHUNK_BYTES */
  readonly maxChunkBytes?: number | undefined
  /** True if chunks are written while the next ones are computed. @default false */
  readonly isWriteBehind?: boolean | undefined
  /** True if sealed segments get lists of grams too, not only merged ones. */
  readonly hasGramsWhenSealed: boolean

  /** True if `size` events may be unsealed. */
  isSealDue(size: number): Promise<boolean>
  /**
   * The late events, oldest first, then the oldest others, up to `size` in all; `undefined` if there are fewer
   * than `atLeast`, and not as many bytes as a segment may have.
   */
  readUnsealed(size: number, atLeast: number): Promise<Unsealed | undefined>
  /**
   * Numbers the names of columns, in any order. A number is never used for another name. Leaves out columns
   * whose names the store cannot keep, or for which it has no numbers left (`admittedColumns`).
   */
  numberColumns(columns: readonly Column[]): Promise<readonly NumberedColumn[]>

  /** Adds a segment that no query reads yet, and returns its id, which is never used again. */
  beginSegment(segment: NewSegment): Promise<number>
  /**
   * Adds chunks, the first of which is the `from`th of the segment. False, without effect, if the segment
   * is not being built any more.
   */
  insertChunks(
    segment: BuildingSegment,
    from: number,
    chunks: readonly NamedChunk<number>[],
  ): Promise<boolean>
  /**
   * In one transaction: makes the segment visible and the events sealed. False, without effect, if any of
   * them were sealed, or the segment was removed, in the meantime. There is no segment for no events.
   */
  publish(segment: WrittenSegment | undefined, unsealed: Unsealed): Promise<boolean>

  /** In the order of their first events. */
  visibleSegments(): Promise<readonly Segment[]>
  /** The times of all events of a segment, ascending. */
  readTimes(segment: Segment): Promise<Float64Array>
  /** Finds out which events of the segments, which have these times, the store still has. */
  checkPresence(segments: readonly Segment[], times: readonly Float64Array[]): Promise<Presence>
  openFeeds(segments: readonly Segment[]): ChunkFeeds
  /** The numbers of the names that have lists in the segment, ascending. */
  listedNames(segment: Segment): Promise<readonly number[]>
  /** The names that have these numbers, in the same order; empty texts for names that were lost. */
  namesOf(numbers: readonly number[]): Promise<readonly string[]>
  /** The chunks of the lists of one name and kind in a segment. */
  readChunks(segment: Segment, name: number, kind: number): Promise<readonly FeedChunk[]>
  /**
   * In one transaction: replaces the visible segments by the merged one and lists the events at the times
   * in `duplicates` as unsealed again. False, without effect, if any of the segments is gone.
   */
  replace(
    parts: readonly Segment[],
    merged: WrittenSegment | undefined,
    duplicates: readonly Microseconds[],
  ): Promise<boolean>

  /** Stores that check nothing have none. */
  readonly repairs?: Repairs

  /** Stores sealed events in less space, some at a time; false if there are none left. Some stores have none. */
  pack?(): Promise<boolean>

  /** Ids of the segments that no query reads. */
  hiddenSegments(): Promise<readonly number[]>
  /** Hides the segments that end before the oldest event, and returns their ids. */
  hideExpired(): Promise<readonly number[]>
  /** Marks a segment as gone, so that no process writes to it any more. False if it is visible or removed. */
  markGone(id: number): Promise<boolean>
  /** Removes the chunks and times of a segment that is gone. */
  deleteChunks(id: number): Promise<void>
  /** Removes the row of a segment that has no chunks any more. */
  deleteSegment(id: number): Promise<void>
}
