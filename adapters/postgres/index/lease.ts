import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { WITHOUT_WAITING } from './steps.js'

/*
 * Of the processes on a log one at a time builds the index, so that none does what another does
 * already. What is written stays right without it: each change of the index is checked by itself.
 * It is a row and not a lock of the session, which may be shared by a pooler.
 */

/** Nobody takes it for longer; what ends later was taken before the server's clock was set back. */
const MAX_LEASE_MS = 60_000

/** SQL that tells whether somebody has the lease. */
export const IS_LEASED = `holder IS NOT NULL AND held_until > clock_timestamp()
  AND held_until <= clock_timestamp() + interval '${MAX_LEASE_MS} ms'`

/** Takes or renews the lease; false where another holder has it. */
export async function takeLease(
  client: PostgresPoolClient,
  { indexState }: Names,
  holder: string,
  leaseMs: number,
): Promise<boolean> {
  const rows = await ask(
    client,
    `UPDATE ${indexState}
     SET holder = $1, held_until = clock_timestamp() + $2::integer * interval '1 ms'
     WHERE holder = $1 OR NOT coalesce(${IS_LEASED}, false) RETURNING ${WITHOUT_WAITING}`,
    holder,
    leaseMs,
  )
  return rows.length > 0
}

/** Leaves the lease to others. */
export async function releaseLease(
  client: PostgresPoolClient,
  { indexState }: Names,
  holder: string,
): Promise<void> {
  await ask(
    client,
    `UPDATE ${indexState} SET holder = NULL, held_until = NULL
     WHERE holder = $1 RETURNING ${WITHOUT_WAITING}`,
    holder,
  )
}
