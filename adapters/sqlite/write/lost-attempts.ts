import type { EventDraft } from '../../../src/event/event.js'
import type { IdSuffix } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { AppendRequest } from './append.js'
import type { Recovered } from './recover.js'

/** An attempt to append whose result is unknown. */
export interface LostAttempt {
  readonly suffixes: readonly IdSuffix[]
  /** What it may have stored is later than this. */
  readonly since: Microseconds
  /** True if other processes may append the same drafts, and have found them. They are not removed. */
  readonly isShared: boolean
  readonly retriedLater: AppendOptions['retriedLater']
}

/**
 * A request that recovers from lost attempts: a draft of theirs that is passed again is stored only once, and any other
 * is removed, unless it is appended again later.
 */
export function recoveryRequest(
  lost: readonly LostAttempt[],
  drafts: readonly EventDraft[],
  recovered: Recovered | undefined,
): AppendRequest {
  if (lost.length === 0) return { drafts, recovered }
  const since = Math.min(...lost.map((attempt) => attempt.since))
  const kept = lost.filter(({ isShared }) => isShared).flatMap(({ suffixes }) => suffixes)
  const wanted = new Set([...drafts.map(({ suffix }) => suffix), ...kept])
  const suffixes = lost.flatMap(({ suffixes, retriedLater }) =>
    suffixes.filter((suffix) => !wanted.has(suffix) && !retriedLater?.has(suffix)),
  )
  const searchedTo = Math.min(since, recovered?.searchedTo ?? since)
  return {
    drafts,
    recovered: { events: recovered?.events ?? new Map(), searchedTo },
    rejected: { suffixes, since },
  }
}
