import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import { isCurrent } from '../../../src/coordination/lease.js'
import type { Lease } from '../../../src/store-kit/index-builder/steps.js'
import type { Connection } from '../connection/connection.js'
import { WRITE_STATE } from '../schema/state.js'

const KEY = 'sqlite:sealing'

const SELECT = 'SELECT value FROM daybook_state WHERE key = ?'

const DELETE = `DELETE FROM daybook_state WHERE key = ? AND value ->> 'holder' = ?`

interface StoredLease {
  readonly holder: string
  readonly until: Microseconds
  /** Duration for which it was taken. */
  readonly period: Microseconds
}

/** The lease that a process has; `undefined` if it is free. */
function currentLease({ statement }: Connection, now: Microseconds): StoredLease | undefined {
  const row = statement(SELECT).get(KEY) as { readonly value: string } | undefined
  const stored = row && (JSON.parse(row.value) as StoredLease)
  return stored && isCurrent(stored.until, now, stored.period) ? stored : undefined
}

/** True while a process has the lease. */
export const isLeased = (connection: Connection, now: Microseconds): boolean =>
  currentLease(connection, now) !== undefined

/** Takes or renews the lease, within a write transaction; false if another holder has it. */
export function takeLease(
  connection: Connection,
  holder: string,
  now: Microseconds,
  period: Microseconds,
): boolean {
  if ((currentLease(connection, now)?.holder ?? holder) !== holder) return false
  const until = now + period
  connection.statement(WRITE_STATE).run(KEY, JSON.stringify({ holder, until, period }), until)
  return true
}

/** Ends the lease of this holder, within a write transaction. */
export function releaseLease({ statement }: Connection, holder: string): void {
  statement(DELETE).run(KEY, holder)
}

export const createLease = (connection: Connection, clock: Clock, signal: AbortSignal): Lease => ({
  take: (holder, ms) =>
    connection.write(() => takeLease(connection, holder, clock(), ms * 1000), { signal }),
  // Makes one attempt, even if the signal has aborted.
  async release(holder) {
    connection.tryWrite(() => releaseLease(connection, holder))
  },
})
