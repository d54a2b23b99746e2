import type { JsonValue } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, inTransaction, type PostgresPoolClient } from '../connection/client.js'
import { ofCaller } from '../connection/failures.js'
import type { Names } from './names.js'

// So much of what is forgotten a write clears up on its way.
const MAX_TIDIED = 100

/**
 * Reads the value, has `change` make the new one of it, and writes that, while nobody else changes
 * values. `onWrite` is told before anything is written.
 */
export function updateState(
  client: PostgresPoolClient,
  { state, locks }: Names,
  key: string,
  change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined,
  clock: Microseconds | undefined,
  keepFor: Microseconds | undefined,
  onWrite: () => void,
): Promise<JsonValue | undefined> {
  return inTransaction(client, async () => {
    // A process that is stopped just now keeps nobody waiting.
    await ask(client, `SET LOCAL idle_in_transaction_session_timeout = '2s'`)
    // A row that is not there yet cannot be locked.
    await ask(client, `SELECT pg_advisory_xact_lock(${locks.state})`)
    const [row] = await ask(
      client,
      `SELECT present, value
       FROM (
         SELECT coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS present
       ) AS clock
       LEFT JOIN ${state} ON key = $1 AND (forgotten_at IS NULL OR forgotten_at > present)`,
      key,
      clock ?? null,
    )
    const [present, json] = row!
    const now = Number(present)
    const before = json === null ? undefined : (JSON.parse(json!) as JsonValue)
    const next = ofCaller(() => change(before, now))
    const text = next === undefined ? undefined : JSON.stringify(next)
    if (text === (json ?? undefined)) return before
    onWrite()
    if (text === undefined) await ask(client, `DELETE FROM ${state} WHERE key = $1`, key)
    else {
      const isForAWhile = keepFor !== undefined
      await ask(
        client,
        `WITH tidied AS (
           DELETE FROM ${state} WHERE key IN (
             SELECT key FROM ${state} WHERE forgotten_at <= $4 AND key <> $1 LIMIT ${MAX_TIDIED}
           )
         )
         INSERT INTO ${state} (key, value, forgotten_at) VALUES ($1, $2, $3)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, forgotten_at = excluded.forgotten_at`,
        key,
        text,
        isForAWhile ? now + keepFor : null,
        isForAWhile ? now : null,
      )
    }
    return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
  })
}
