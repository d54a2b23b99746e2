import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditLogErrorCode } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { ChangeTracker, EventChange } from './changes.js'
import {
  newestTime,
  pollAll,
  pollMatching,
  type PollResult,
  type Position,
  type TailFilter,
} from './poll.js'
import type { EventStore, OpenEvent } from '../store/store.js'
import { ignoreTransient } from './transient-failures.js'
import type { Waker } from './waker.js'

export interface RunTailOptions {
  readonly store: EventStore
  readonly filter: TailFilter
  readonly start: Position
  /** Reports the changes of live events; `undefined` if they are not wanted. */
  readonly tracker: ChangeTracker | undefined
  readonly waker: Waker
  readonly signal: AbortSignal
}

// Bounds the delay of an event if a hint is lost.
const POLL_MS = 1000
// Hints within this time share one poll.
const GAP_MS = 10

/** Yields matching events, and changes of live events, until the signal aborts. */
export async function* runTail({
  store,
  filter,
  start,
  tracker,
  waker,
  signal,
}: RunTailOptions): AsyncGenerator<AuditEvent | EventChange, void, void> {
  let position = start
  let hasTimedOut = false
  let hasFailed = false
  const onFailure = (code: AuditLogErrorCode): void => {
    hasFailed = true
    hasTimedOut ||= code === 'QUERY_TIMEOUT'
  }
  const poll = async (): Promise<PollResult & { readonly open: readonly OpenEvent[] }> => {
    const range = { after: position, upTo: await newestTime(store, { signal }) }
    // Read after `upTo`: so every event up to there that is still open is among these.
    const open = tracker ? await store.openEvents({ signal }) : []
    const found = await (hasTimedOut ? pollAll : pollMatching)(store, filter, range, { signal })
    return { ...found, open }
  }
  while (!signal.aborted) {
    waker.reset()
    hasFailed = false
    const found = await ignoreTransient(poll(), onFailure)
    // The tail has caught up: the ranges of further polls are small.
    if (found?.hasMore === false) hasTimedOut = false
    for (const event of found?.events ?? []) {
      if (signal.aborted) break
      tracker?.track(event, found!.open)
      yield event
    }
    if (found) ({ position } = found)
    for (const { id, revision } of (found && tracker?.changed(found.open)) ?? []) {
      if (signal.aborted || hasFailed) break
      const change = await ignoreTransient(tracker!.change({ id, revision }, { signal }), onFailure)
      if (change) yield change
    }
    if (found?.hasMore) await nextTurn()
    else {
      await waker.pause(GAP_MS, false)
      await waker.pause(POLL_MS, !hasFailed)
    }
  }
}
