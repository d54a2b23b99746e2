import type { AuditLogErrorCode } from '../errors.js'
import type { WaitOptions } from '../store/store.js'
import {
  type EventLister,
  newestTime,
  pollAll,
  pollMatching,
  type PollResult,
  type TailFilter,
} from './poll.js'
import { ignoreTransient } from './transient-failures.js'

// Bounds the events that one reader holds in memory.
const PAGE_SIZE = 200

/** Reads the next events after a position. */
export type CatchUp = (position: string, options: WaitOptions) => Promise<PollResult>

/**
 * Reads a store page by page. Returns the given position, without events, if the store has nothing
 * more at present: also if it failed in a way that may pass, or answered from a replica that lags.
 */
export function createCatchUp(store: EventLister, filter: TailFilter): CatchUp {
  let hasTimedOut = false
  const onFailure = (code: AuditLogErrorCode): void => {
    hasTimedOut ||= code === 'QUERY_TIMEOUT'
  }
  return async (position, { signal }) => {
    const read = async (): Promise<PollResult> => {
      const range = { after: position, upTo: await newestTime(store, { signal }) }
      return hasTimedOut
        ? pollAll(store, filter, range, { signal })
        : pollMatching(store, filter, range, { signal, limit: PAGE_SIZE })
    }
    const found = await ignoreTransient(read(), onFailure)
    if (found?.hasMore === false) hasTimedOut = false
    return found ?? { events: [], position, hasMore: false }
  }
}
