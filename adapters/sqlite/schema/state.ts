import type { JsonValue } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'

// Expired values that one write deletes.
const MAX_EXPIRED = 100

const DELETE_EXPIRED = `DELETE FROM daybook_state WHERE key IN
  (SELECT key FROM daybook_state WHERE expires_at <= ? LIMIT ${MAX_EXPIRED})`

const WRITE = `INSERT INTO daybook_state (key, value, expires_at) VALUES (?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`

/** Changes the value of the key and returns the new one. Call it within a write transaction. */
export function changeState(
  { statement }: Connection,
  key: string,
  change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined,
  now: Microseconds,
  keepFor: Microseconds | undefined,
): JsonValue | undefined {
  const row = statement(
    'SELECT value FROM daybook_state WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)',
  ).get(key, now) as { readonly value: string } | undefined
  const next = change(row && (JSON.parse(row.value) as JsonValue), now)
  const value = next === undefined ? undefined : JSON.stringify(next)
  if (value === row?.value) return next
  if (value === undefined) statement('DELETE FROM daybook_state WHERE key = ?').run(key)
  else {
    if (keepFor !== undefined) statement(DELETE_EXPIRED).run(now)
    statement(WRITE).run(key, value, keepFor === undefined ? null : now + keepFor)
  }
  return next
}
