import type { JsonValue } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'

// So much of what is forgotten a write clears up on its way.
const MAX_TIDIED = 100

const FORGET = `DELETE FROM daybook_state WHERE key IN
  (SELECT key FROM daybook_state WHERE forgotten_at <= ? LIMIT ${MAX_TIDIED})`

const WRITE = `INSERT INTO daybook_state (key, value, forgotten_at) VALUES (?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, forgotten_at = excluded.forgotten_at`

/** Changes the value of the key, within a write transaction; gives the new one. */
export function changeState(
  { statement }: Connection,
  key: string,
  change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined,
  now: Microseconds,
  keepFor: Microseconds | undefined,
): JsonValue | undefined {
  const row = statement(
    'SELECT value FROM daybook_state WHERE key = ? AND (forgotten_at IS NULL OR forgotten_at > ?)',
  ).get(key, now) as { readonly value: string } | undefined
  const next = change(row && (JSON.parse(row.value) as JsonValue), now)
  const value = next === undefined ? undefined : JSON.stringify(next)
  if (value === row?.value) return next
  if (value === undefined) statement('DELETE FROM daybook_state WHERE key = ?').run(key)
  else {
    if (keepFor !== undefined) statement(FORGET).run(now)
    statement(WRITE).run(key, value, keepFor === undefined ? null : now + keepFor)
  }
  return next
}
