import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { changeState } from '../schema/state.js'

/*
 * Of the processes on a file one at a time builds the index, so that none does what another does
 * already. What is written stays right without it: each change of the index is checked by itself.
 */

const KEY = 'sqlite:sealing'

const HELD = 'SELECT value FROM daybook_state WHERE key = ?'

interface Holding {
  readonly holder: string
  readonly until: Microseconds
  /** How long it was taken for. */
  readonly period: Microseconds
}

// What ends later than it can was taken before the clock was set back.
const isHeld = ({ until, period }: Holding, now: Microseconds): boolean =>
  now < until && until <= now + period

/** True while somebody has the lease. */
export function isLeased({ statement }: Connection, now: Microseconds): boolean {
  const row = statement(HELD).get(KEY) as { readonly value: string } | undefined
  return row !== undefined && isHeld(JSON.parse(row.value) as Holding, now)
}

/** Takes or renews the lease, within a write transaction; false where another holder has it. */
export function takeLease(
  connection: Connection,
  holder: string,
  now: Microseconds,
  period: Microseconds,
): boolean {
  let isOurs = false
  const take = (value: unknown) => {
    const before = value as Holding | undefined
    isOurs = !before || before.holder === holder || !isHeld(before, now)
    return isOurs ? { holder, until: now + period, period } : { ...before! }
  }
  changeState(connection, KEY, take, now, period)
  return isOurs
}

/** Leaves the lease to others, within a write transaction. */
export function releaseLease(connection: Connection, holder: string, now: Microseconds): void {
  const release = (value: unknown) => {
    const before = value as Holding | undefined
    return before && before.holder !== holder ? { ...before } : undefined
  }
  changeState(connection, KEY, release, now, undefined)
}
