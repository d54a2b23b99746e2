import type { JsonValue } from '../../src/event.js'
import type { Microseconds } from '../../src/timestamp.js'
import { ask, inTransaction, type PostgresPoolClient } from './client.js'
import { ofCaller } from './failures.js'
import type { Names } from './names.js'

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
  onWrite: () => void,
): Promise<JsonValue | undefined> {
  return inTransaction(client, async () => {
    // A process that is stopped just now keeps nobody waiting.
    await ask(client, `SET LOCAL idle_in_transaction_session_timeout = '2s'`)
    // A row that is not there yet cannot be locked.
    await ask(client, `SELECT pg_advisory_xact_lock(${locks.state})`)
    const [row] = await ask(
      client,
      `SELECT coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
         (SELECT value FROM ${state} WHERE key = $1)`,
      key,
      clock ?? null,
    )
    const [now, json] = row!
    const before = json === null ? undefined : (JSON.parse(json!) as JsonValue)
    const next = ofCaller(() => change(before, Number(now)))
    const text = next === undefined ? undefined : JSON.stringify(next)
    onWrite()
    if (text === undefined) await ask(client, `DELETE FROM ${state} WHERE key = $1`, key)
    else
      await ask(
        client,
        `INSERT INTO ${state} VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        key,
        text,
      )
    return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
  })
}
