import type { AuditLogErrorCode } from '../errors.js'
import type { WaitOptions } from '../store/store.js'
import { attempt } from './following.js'
import { type EventLister, type Found, look, newestTime, step, type TailFilter } from './poll.js'

// A reader holds so many events while it is given them.
const PAGE = 200

/** What the store has next, after a position. */
export type CatchUp = (position: string, options: WaitOptions) => Promise<Found>

/**
 * Reads a store on from a position, a page at a time. Gives the position as it was where the store can
 * tell of nothing more at the moment: it may have failed in a way that passes, or have answered from
 * a copy that is behind.
 */
export function createCatchUp(store: EventLister, filter: TailFilter): CatchUp {
  let isTooLong = false
  const onFailure = (code: AuditLogErrorCode): void => {
    isTooLong ||= code === 'QUERY_TIMEOUT'
  }
  return async (position, options) => {
    const readOn = async (): Promise<Found> => {
      const end = await newestTime(store, options)
      return isTooLong
        ? step(store, filter, position, end, options)
        : look(store, filter, position, end, options, PAGE)
    }
    const found = await attempt(readOn(), onFailure)
    if (found?.hasMore === false) isTooLong = false
    return found ?? { events: [], position, hasMore: false }
  }
}
