import type { Lease } from '../../../src/store-kit/index-builder/steps.js'
import { ask, ASYNC_COMMIT, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'

/*
 * The lease is a row and not a lock of the session, because a connection pooler may share sessions among
 * processes.
 */

/** Maximum duration. A lease that ends later than that was taken before the server's clock was set back. */
const MAX_LEASE_MS = 60_000

/** SQL condition: a process has the lease. */
export const IS_LEASED = `holder IS NOT NULL AND held_until > now()
  AND held_until <= now() + interval '${MAX_LEASE_MS} ms'`

/** The opposite of {@link IS_LEASED}, also of its NULL. Citus allows no function such as `now` in `coalesce` here. */
const IS_FREE = `holder IS NULL OR held_until IS NULL OR held_until <= now()
  OR held_until > now() + interval '${MAX_LEASE_MS} ms'`

/** Takes or renews the lease; false if another holder has it. */
async function takeLease(
  client: PostgresPoolClient,
  { indexState }: Names,
  holder: string,
  leaseMs: number,
): Promise<boolean> {
  const rows = await ask(
    client,
    `WITH taken AS (
       UPDATE ${indexState}
       SET holder = $1, held_until = now() + $2::integer * interval '1 ms'
       WHERE holder = $1 OR ${IS_FREE} RETURNING 1
     ) SELECT ${ASYNC_COMMIT} FROM taken`,
    holder,
    leaseMs,
  )
  return rows.length > 0
}

/** Ends the lease of this holder. */
async function releaseLease(
  client: PostgresPoolClient,
  { indexState }: Names,
  holder: string,
): Promise<void> {
  await ask(
    client,
    `WITH released AS (
       UPDATE ${indexState} SET holder = NULL, held_until = NULL WHERE holder = $1 RETURNING 1
     ) SELECT ${ASYNC_COMMIT} FROM released`,
    holder,
  )
}

/** `use` runs a transaction on a connection of the pool. */
export const createLease = (
  names: Names,
  use: <Result>(act: (client: PostgresPoolClient) => Promise<Result>) => Promise<Result>,
): Lease => ({
  take: (holder, ms) => use((client) => takeLease(client, names, holder, ms)),
  release: (holder) => use((client) => releaseLease(client, names, holder)),
})
