import type { ThrottleState } from '../../../src/store/throttle-state.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Tables } from '../schema/tables.js'
import { countRemoved, type EventPlace, removeAt } from './remove.js'

/** Drafts whose calls were rejected while it was not known whether they were stored. */
export interface RejectedDrafts {
  readonly suffixes: readonly string[]
  /** They were stored later than this, if at all. */
  readonly since: Microseconds
}

/** The throttles that drafts have closed, with their states before, by suffix. */
export type Claims = Map<string, { readonly key: string; readonly before: ThrottleState }>

const STORED = `SELECT created_at AS time, suffix FROM daybook_events
  WHERE created_at > ? AND suffix IN (SELECT value FROM json_each(?))`

/** Removes the events of rejected drafts, and opens the throttles that they closed. Call it within a write transaction. */
export function removeRejected(
  { connection, live, throttles }: Tables,
  { suffixes, since }: RejectedDrafts,
  claims: Claims,
): void {
  if (suffixes.length === 0) return
  const reopen = (suffix: string): void => {
    const claim = claims.get(suffix)
    if (claim) throttles.reopen(claim.key, claim.before)
  }
  const wanted = new Set(suffixes)
  for (const { created_at, suffix } of live.between({
    from: since + 1,
    to: Number.MAX_SAFE_INTEGER,
  }))
    if (wanted.has(suffix)) {
      live.remove(created_at)
      reopen(suffix)
    }
  const places = connection
    .statement(STORED)
    .all(since, JSON.stringify(suffixes)) as readonly EventPlace[]
  for (const place of places) {
    removeAt(connection, place)
    reopen(place.suffix)
  }
  countRemoved(connection, places.length)
}
