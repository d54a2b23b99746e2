import type { JsonValue } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, runInTransaction, type PostgresPoolClient } from '../connection/client.js'
import { callBack } from '../connection/failures.js'
import type { Names } from './names.js'

// Maximum number of expired values that one write deletes.
const MAX_EXPIRED = 100

export interface StateChange {
  readonly key: string
  /** Returns the new value; `undefined` deletes it. */
  readonly change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined
  /** `undefined` for the server's clock. */
  readonly now: Microseconds | undefined
  /** The value expires after this time; `undefined` for a value that never expires. */
  readonly keepFor: Microseconds | undefined
  /** Called before anything is written. */
  readonly onWrite: () => void
}

/** Changes a value in a transaction that excludes other changes; returns the new value. */
export function updateState(
  client: PostgresPoolClient,
  { state, locks }: Names,
  { key, change, now: clock, keepFor, onWrite }: StateChange,
): Promise<JsonValue | undefined> {
  return runInTransaction(client, async () => {
    // Ends this transaction after 2 s idle, so that a suspended process cannot hold the lock.
    await ask(client, `SET LOCAL idle_in_transaction_session_timeout = '2s'`)
    // The row may not exist yet, so its lock would not do.
    await ask(client, `SELECT pg_advisory_xact_lock(${locks.state})`)
    const [row] = await ask(
      client,
      `SELECT present, value
       FROM (
         SELECT coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS present
       ) AS clock
       LEFT JOIN ${state} ON key = $1 AND (expires_at IS NULL OR expires_at > present)`,
      key,
      clock ?? null,
    )
    const [present, json] = row!
    const now = Number(present)
    const before = json === null ? undefined : (JSON.parse(json!) as JsonValue)
    const next = callBack(() => change(before, now))
    const text = next === undefined ? undefined : JSON.stringify(next)
    if (text === (json ?? undefined)) return before
    onWrite()
    if (text === undefined) await ask(client, `DELETE FROM ${state} WHERE key = $1`, key)
    else {
      const expires = keepFor !== undefined
      await ask(
        client,
        `WITH expired AS (
           DELETE FROM ${state} WHERE key IN (
             SELECT key FROM ${state} WHERE expires_at <= $4 AND key <> $1 LIMIT ${MAX_EXPIRED}
           )
         )
         INSERT INTO ${state} (key, value, expires_at) VALUES ($1, $2, $3)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
        key,
        text,
        expires ? now + keepFor : null,
        expires ? now : null,
      )
    }
    return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
  })
}
