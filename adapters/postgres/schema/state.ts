import { timeSql } from './server.js'
import type { JsonValue } from '../../../src/event/event.js'
import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import { changedStates, type StateTexts } from '../../../src/store/states.js'
import type { ChangeStates, ReadStatesOptions } from '../../../src/store/store.js'
import {
  ask,
  IDLE_TIMEOUT,
  runInTransaction,
  type PostgresPoolClient,
} from '../connection/client.js'
import { callBack } from '../connection/failures.js'
import type { Names } from './names.js'

// Maximum number of expired values that one write deletes.
const MAX_EXPIRED = 100

export interface StatesChange {
  readonly keys: readonly string[]
  readonly change: ChangeStates
  /** `undefined` for the server's clock. */
  readonly clock: Clock | undefined
  /** The values expire after this time; `undefined` for values that never expire. */
  readonly keepFor: Microseconds | undefined
  /** Called before anything is written. */
  readonly onWrite: () => void
}

/** A row with the present, $1 or else the server's time. */
const CLOCK = `(
  SELECT ${timeSql('$1')} AS present
) AS clock`

interface Written {
  readonly now: Microseconds
  readonly keepFor: Microseconds | undefined
}

async function writeStates(
  client: PostgresPoolClient,
  state: string,
  after: StateTexts,
  { now, keepFor }: Written,
): Promise<void> {
  const expires = keepFor !== undefined
  const written = [...after].filter(([, text]) => text !== undefined)
  const removed = [...after.keys()].filter((key) => after.get(key) === undefined)
  if (removed.length > 0)
    await ask(client, `DELETE FROM ${state} WHERE key = ANY ($1::text[])`, removed)
  if (written.length === 0) return
  await ask(
    client,
    `WITH expired AS (
       DELETE FROM ${state} WHERE key IN (
         SELECT key FROM ${state}
         WHERE expires_at <= $4::bigint AND key <> ALL ($1::text[]) LIMIT ${MAX_EXPIRED}
       )
     )
     INSERT INTO ${state} (key, value, expires_at)
     SELECT key, value::json, $3::bigint FROM unnest($1::text[], $2::text[]) AS written (key, value)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
    written.map(([key]) => key),
    written.map(([, text]) => text),
    expires ? now + keepFor : null,
    expires ? now : null,
  )
}

/** Changes values in a transaction that excludes other changes. */
export function updateStates(
  client: PostgresPoolClient,
  { state, lock }: Names,
  { keys, change, clock, keepFor, onWrite }: StatesChange,
): Promise<void> {
  return runInTransaction(client, async () => {
    await ask(client, IDLE_TIMEOUT)
    // The rows may not exist yet, so their locks would not do.
    await ask(client, `SELECT ${lock('state')}`)
    const rows = await ask(
      client,
      `SELECT present, key, value FROM ${CLOCK}
       LEFT JOIN ${state} ON key = ANY ($2::text[]) AND (expires_at IS NULL OR expires_at > present)`,
      // Only now, under the lock, as the times of changes must rise.
      clock?.() ?? null,
      keys,
    )
    const now = Number(rows[0]![0])
    const found = new Map(rows.map(([, key, text]) => [key, text ?? undefined]))
    const before = new Map(keys.map((key) => [key, found.get(key)]))
    const after = callBack(() => changedStates(before, change, now))
    if (after.size === 0) return
    onWrite()
    await writeStates(client, state, after, { now, keepFor })
  })
}

/** See `EventStore.readStates`. */
export async function readStates(
  client: PostgresPoolClient,
  { state }: Names,
  prefix: string,
  { after, limit, now }: ReadStatesOptions & { readonly now: Microseconds | undefined },
): Promise<(readonly [string, JsonValue])[]> {
  const rows = await ask(
    client,
    `SELECT key, value FROM ${state}, ${CLOCK}
     WHERE key >= $2 AND ($3::text IS NULL OR key > $3) AND (expires_at IS NULL OR expires_at > present)
     ORDER BY key LIMIT $4`,
    now ?? null,
    prefix,
    after ?? null,
    limit,
  )
  // Keys with the prefix follow each other.
  return rows
    .filter(([key]) => key!.startsWith(prefix))
    .map(([key, value]) => [key!, JSON.parse(value!) as JsonValue] as const)
}
