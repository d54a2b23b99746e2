import type { Microseconds } from '../../event/timestamp.js'
import type { IndexDriver, UnsealedEvents } from '../index-builder/index-driver.js'
import type { StepRunner } from '../index-builder/steps.js'
import type { ExtractedRow } from '../index/extract.js'
import type { IndexBounds } from '../index/index-bounds.js'
import type { Dialect, SealedChange } from './dialect.js'
import type { StoredSegment } from './index-rows.js'
import type { Program } from './program.js'

/** Events for one new segment, and the state of the index when they were read. */
export interface UnsealedRows extends UnsealedEvents, Partial<SealedChange> {
  readonly removed: number
  readonly version: number
  /** The end of the sealed events. */
  readonly sealedTo: Microseconds
  /** The events include all events after `sealedTo` up to this time. */
  readonly upTo: Microseconds
  /** The ids of the late events among them, also of those that were removed. */
  readonly late: readonly number[]
}

/**
 * An index as its store keeps it: its SQL, its transactions, and the rows that both stores keep differently. All else of
 * the index is the same for all stores, see `createIndexDriver`.
 */
export interface IndexStore<Unsealed extends UnsealedRows = UnsealedRows> extends Pick<
  IndexDriver<Unsealed, StoredSegment>,
  | 'batchLimits'
  | 'maxChunkBytes'
  | 'isWriteBehind'
  | 'hasGramsWhenSealed'
  | 'isSealDue'
  | 'readUnsealed'
  | 'insertChunks'
  | 'openFeeds'
  | 'listedNames'
  | 'readChunks'
  | 'deleteChunks'
  | 'pack'
> {
  readonly dialect: Dialect
  readonly steps: StepRunner
  readonly bounds: IndexBounds
  /** Runs a program that only reads. Its statements may see different moments. */
  readonly read: <Result>(program: () => Program<Result>) => Promise<Result>
  /** Runs a program, each of whose statements may be a transaction of its own. */
  readonly write: <Result>(program: () => Program<Result>) => Promise<Result>
  /** Runs a program in one short transaction, which is durable. */
  readonly change: <Result>(program: () => Program<Result>) => Promise<Result>
  /** The next events after a time and up to another, in the order of their times; fewer than `max` only at the end. */
  readonly readEvents: (
    after: Microseconds,
    to: Microseconds,
    max: number,
  ) => Promise<readonly ExtractedRow[]>
  /**
   * The blocks of a segment's times with the numbers from `from` to `end`, exclusive. Throws `DamagedSegment` unless they
   * are as they were written.
   */
  readBlocks(id: number, from: number, end: number): Promise<readonly (readonly Microseconds[])[]>
}
