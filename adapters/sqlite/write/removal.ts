import type { RemoveOptions, WaitOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { writeInTimeSlices } from '../connection/time-slice.js'
import { hasFreePages } from '../connection/free-pages.js'
import type { Writer } from './writer.js'

// Ids that are given to one transaction.
const MAX_IDS = 500

export interface Removal {
  /** Removes the events before `time`, oldest first; returns their number. */
  before(time: Microseconds, options: RemoveOptions): Promise<number>
  /** Removes the events with these ids; returns how many there were. */
  ids(ids: readonly string[], options: WaitOptions): Promise<number>
}

/** Removes events in short transactions of the writer, with pauses between them. */
export function createRemoval(connection: Connection, writer: Writer): Removal {
  /** After an error, the next call continues. */
  const releasePages = async (options: WaitOptions): Promise<void> => {
    try {
      if (!(await connection.retry(() => hasFreePages(connection), options))) return
      await writeInTimeSlices(connection, () => writer.releasePages(options), options)
      // Truncates the file itself.
      await writer.checkpoint(options)
    } catch {
      // The events are removed; only the file stays large.
    }
  }

  return {
    async before(time, { onProgress, ...options }) {
      let removed = 0
      const slice = async (): Promise<boolean> => {
        const done = await writer.removeBefore(time, options)
        removed += done.removed
        if (done.removed > 0) onProgress?.(removed)
        return done.hasMore
      }
      await writeInTimeSlices(connection, slice, options)
      await releasePages(options)
      return removed
    },
    async ids(ids, options) {
      let removed = 0
      let next = 0
      const slice = async (): Promise<boolean> => {
        const done = await writer.removeIds(ids.slice(next, next + MAX_IDS), options)
        removed += done.removed
        next += done.done
        return next < ids.length
      }
      await writeInTimeSlices(connection, slice, options)
      await releasePages(options)
      return removed
    },
  }
}
