import type { JsonValue } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'

// Expired values that one write deletes.
const MAX_EXPIRED = 100

const DELETE_EXPIRED = `DELETE FROM daybook_state WHERE key IN
  (SELECT key FROM daybook_state WHERE expires_at <= ? LIMIT ${MAX_EXPIRED})`

const WRITE = `INSERT INTO daybook_state (key, value, expires_at) VALUES (?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`

const READ =
  'SELECT value FROM daybook_state WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)'

/** The JSON text of the value; `undefined` if there is none. */
export type StateText = string | undefined

/** A value to write in place of the one that the caller has read. */
export interface StateChange {
  readonly key: string
  readonly before: StateText
  readonly after: StateText
  /** `undefined` if the value never expires. */
  readonly keepFor: Microseconds | undefined
}

export function readState({ statement }: Connection, key: string, now: Microseconds): StateText {
  const row = statement(READ).get(key, now) as { readonly value: string } | undefined
  return row?.value
}

/**
 * Writes the value unless another one than `before` is there. Returns the value that was there. Call it within
 * a write transaction.
 */
export function replaceState(
  connection: Connection,
  { key, before, after, keepFor }: StateChange,
  now: Microseconds,
): StateText {
  const { statement } = connection
  const found = readState(connection, key, now)
  if (found !== before) return found
  if (after === undefined) statement('DELETE FROM daybook_state WHERE key = ?').run(key)
  else {
    if (keepFor !== undefined) statement(DELETE_EXPIRED).run(now)
    statement(WRITE).run(key, after, keepFor === undefined ? null : now + keepFor)
  }
  return found
}

/** Returns the new value, as JSON text too. */
export function applyToState(
  text: StateText,
  change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined,
  now: Microseconds,
): { readonly value: JsonValue | undefined; readonly text: StateText } {
  const value = change(text === undefined ? undefined : (JSON.parse(text) as JsonValue), now)
  return { value, text: value === undefined ? undefined : JSON.stringify(value) }
}

/** Changes the value of the key and returns the new one. Call it within a write transaction. */
export function changeState(
  connection: Connection,
  key: string,
  change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined,
  { now, keepFor }: { readonly now: Microseconds; readonly keepFor?: Microseconds | undefined },
): JsonValue | undefined {
  const before = readState(connection, key, now)
  const { value, text: after } = applyToState(before, change, now)
  if (after !== before) replaceState(connection, { key, before, after, keepFor }, now)
  return value
}
