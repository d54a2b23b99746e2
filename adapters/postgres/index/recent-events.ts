import { setImmediate as nextTurn } from 'node:timers/promises'
import { extractedSource } from '../../../src/store-kit/index/block-source.js'
import {
  createGrowingIndex,
  type GrowingIndex,
} from '../../../src/store-kit/index/growing-index.js'
import type { IndexBounds } from '../../../src/store-kit/index/index-bounds.js'
import { createListing, type Listing } from '../../../src/store-kit/index/listing.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { TextRow } from '../connection/client.js'
import type { Snapshot } from '../log/snapshot.js'

/** The part of a snapshot that additions use. */
export type Moment = Pick<Snapshot, 'ask' | 'checkTime'>

export interface RecentLimits {
  /** Maximum number of rows that one statement reads. */
  readonly slice: number
  /** Maximum number of fresh events, and of late events, that are kept. */
  readonly max: number
}

/** The events in memory, and the stage of their additions. */
export interface RecentEvents {
  readonly index: GrowingIndex
  readonly listing: Listing
  /** Changes with each addition: rows that were read at another stage may have been added since. */
  stage(): number
  /** Call it once events were sealed: other large ones are listed from then on. */
  startStage(): void
  /** True if the events take as much memory as they may: no more are added in order. */
  isFull(): boolean
  /** True if no more late events are added. */
  isFullOfLate(): boolean
  /** Starts a stage and passes each row to `add`, with turns of the event loop in between. */
  addRows(
    rows: readonly TextRow[],
    add: (row: TextRow) => void,
    checkTime: Moment['checkTime'],
  ): Promise<void>
  /** The events so far; events that are added later are not in these parts. */
  parts(checkTime: Moment['checkTime']): Promise<readonly IndexPart[]>
}

const BLOCK = 2048
/** Rows, and length of their attributes, between two checks of the time. */
const STEP = 64
const STEP_LENGTH = 65_536
const SLICE_MS = 5

/** `nextStage` returns a number that no addition has had before. */
export function createRecentEvents(bounds: IndexBounds, nextStage: () => number): RecentEvents {
  const index = createGrowingIndex(BLOCK, () => extractedSource(bounds), bounds.bytes)
  const listing = createListing(bounds)
  let stage = nextStage()
  let end = 0
  const isOver = (): boolean => performance.now() >= end
  const startSlice = (): void => void (end = performance.now() + SLICE_MS)
  const pause = async (checkTime: Moment['checkTime']): Promise<void> => {
    await nextTurn()
    checkTime()
    startSlice()
  }

  return {
    index,
    listing,
    isFull: () => index.bytes >= bounds.unsealedBytes,
    // Without the late events, all events have to be read one by one, so they have room of their own.
    isFullOfLate: () => index.bytes >= 2 * bounds.unsealedBytes,
    stage: () => stage,
    startStage() {
      stage = nextStage()
      listing.reset()
    },
    async addRows(rows, add, checkTime) {
      stage = nextStage()
      startSlice()
      let unchecked = 0
      for (const [i, row] of rows.entries()) {
        add(row)
        unchecked += row[6]?.length ?? 0
        const isCheckDue = i % STEP === 0 || unchecked > STEP_LENGTH
        if (isCheckDue) unchecked = 0
        if (index.finish(isOver) && !(isCheckDue && isOver())) continue
        do {
          await pause(checkTime)
          // A statement that was made during the pause also reads the rows that are added from here on.
          stage = nextStage()
        } while (!index.finish(isOver))
      }
    },
    async parts(checkTime) {
      startSlice()
      for (;;) {
        const parts = index.parts(isOver)
        if (parts) return parts
        await pause(checkTime)
      }
    },
  }
}
