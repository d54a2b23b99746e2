import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import { isCurrent } from '../../../src/coordination/lease.js'
import type { Lease } from '../../../src/store-kit/index-builder/steps.js'
import type { Connection } from '../connection/connection.js'
import { changeState } from '../schema/state.js'

const KEY = 'sqlite:sealing'

const SELECT_LEASE = 'SELECT value FROM daybook_state WHERE key = ?'

interface StoredLease {
  readonly holder: string
  readonly until: Microseconds
  /** Duration for which it was taken. */
  readonly period: Microseconds
}

const isValid = ({ until, period }: StoredLease, now: Microseconds): boolean =>
  isCurrent(until, now, period)

/** True while a process has the lease. */
export function isLeased({ statement }: Connection, now: Microseconds): boolean {
  const row = statement(SELECT_LEASE).get(KEY) as { readonly value: string } | undefined
  return row !== undefined && isValid(JSON.parse(row.value) as StoredLease, now)
}

/** Takes or renews the lease, within a write transaction; false if another holder has it. */
export function takeLease(
  connection: Connection,
  holder: string,
  now: Microseconds,
  period: Microseconds,
): boolean {
  let isTaken = false
  const take = (value: unknown) => {
    const stored = value as StoredLease | undefined
    isTaken = !stored || stored.holder === holder || !isValid(stored, now)
    return isTaken ? { holder, until: now + period, period } : { ...stored! }
  }
  changeState(connection, KEY, take, { now, keepFor: period })
  return isTaken
}

/** Ends the lease of this holder, within a write transaction. */
export function releaseLease(connection: Connection, holder: string, now: Microseconds): void {
  const release = (value: unknown) => {
    const stored = value as StoredLease | undefined
    return stored && stored.holder !== holder ? { ...stored } : undefined
  }
  changeState(connection, KEY, release, { now })
}

export const createLease = (connection: Connection, clock: Clock, signal: AbortSignal): Lease => ({
  take: (holder, ms) =>
    connection.write(() => takeLease(connection, holder, clock(), ms * 1000), { signal }),
  // Makes one attempt, even if the signal has aborted.
  async release(holder) {
    connection.tryWrite(() => releaseLease(connection, holder, clock()))
  },
})
