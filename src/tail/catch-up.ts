import type { AuditLogErrorCode } from '../errors.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { newestTime, pollAll, pollMatching, type PollResult, type TailFilter } from './poll.js'
import type { OpenRevisions } from './session.js'
import { ignoreTransient } from './transient-failures.js'
import type { Turns } from './turns.js'

// Maximum numbers of events that a reader holds in memory: for a single reader, and while other readers wait.
const PAGE_SIZE = 1000
const CONTENDED_PAGE_SIZE = 200

export interface CaughtUp extends PollResult {
  /** The open live events, read before the events; `undefined` if they are not needed or the store failed. */
  readonly open: OpenRevisions | undefined
}

/** Reads the next events after a cursor. */
export type CatchUp = (cursor: string, options: WaitOptions) => Promise<CaughtUp>

/**
 * Reads a store page by page, each page in a turn of the queue. Returns the given cursor without events if the store
 * has nothing more at present, after a temporary failure of the store, and after an answer of a replica that lags.
 */
export function createCatchUp(
  store: EventStore,
  filter: TailFilter,
  { turns, hasChanges }: { readonly turns: Turns; readonly hasChanges: boolean },
): CatchUp {
  let hasTimedOut = false
  const onFailure = (code: AuditLogErrorCode): void => {
    hasTimedOut ||= code === 'QUERY_TIMEOUT'
  }
  return async (cursor, { signal }) => {
    const read = async (isContended: boolean): Promise<CaughtUp> => {
      const range = { after: cursor, upTo: await newestTime(store, { signal }) }
      // Read after `upTo`, so it contains every event up to there that is still open.
      const open = hasChanges ? await store.openEvents({ signal }) : undefined
      const limit = isContended ? CONTENDED_PAGE_SIZE : PAGE_SIZE
      const poll = hasTimedOut ? pollAll : pollMatching
      const found = await poll(store, filter, range, { signal, limit })
      return { ...found, open: open && new Map(open.map(({ id, revision }) => [id, revision])) }
    }
    const found = await turns.take(
      (isContended) => ignoreTransient(read(isContended), onFailure),
      signal,
    )
    if (found?.hasMore === false) hasTimedOut = false
    return found ?? { events: [], cursor, hasMore: false, open: undefined }
  }
}
