import type { JsonValue } from '../../src/event.js'
import type { Microseconds } from '../../src/timestamp.js'
import type { Connection } from './connection.js'

/** Changes the value of the key, within a write transaction; gives the new one. */
export function changeState(
  { statement }: Connection,
  key: string,
  change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined,
  now: Microseconds,
): JsonValue | undefined {
  const row = statement('SELECT value FROM daybook_state WHERE key = ?').get(key) as
    | { readonly value: string }
    | undefined
  const next = change(row && (JSON.parse(row.value) as JsonValue), now)
  const value = next === undefined ? undefined : JSON.stringify(next)
  if (value === row?.value) return next
  if (value === undefined) statement('DELETE FROM daybook_state WHERE key = ?').run(key)
  else
    statement(
      `INSERT INTO daybook_state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    ).run(key, value)
  return next
}
