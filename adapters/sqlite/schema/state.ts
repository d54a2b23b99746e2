import type { JsonValue } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { compareText } from '../../../src/filter/values.js'
import { type StateText, type StateTexts } from '../../../src/store/states.js'
import type { ReadStatesOptions } from '../../../src/store/store.js'
import type { Connection } from '../connection/connection.js'
import { LIMIT } from '../connection/limit.js'

// Expired values that one write deletes.
const MAX_EXPIRED = 100

const DELETE_EXPIRED = `DELETE FROM daybook_state WHERE key IN
  (SELECT key FROM daybook_state WHERE expires_at <= ? LIMIT ${MAX_EXPIRED})`

/** Writes a value: its key, its JSON text, and when it expires. */
export const WRITE_STATE = `INSERT INTO daybook_state (key, value, expires_at) VALUES (?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`

const READ =
  'SELECT value FROM daybook_state WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)'

// Texts are compared as UTF-8, which is the order of code points.
const readRange = (bound: string): string => `SELECT key, value FROM daybook_state
  WHERE key ${bound} ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key ${LIMIT}`
const READ_FROM = readRange('>=')
const READ_AFTER = readRange('>')

/** Values to write, if the caller has read the ones that are there. */
export interface StatesChange {
  /** The values that the caller has read. */
  readonly before: StateTexts
  /** Some of these keys, with their new values. */
  readonly after: StateTexts
  /** `undefined` if the values never expire. */
  readonly keepFor: Microseconds | undefined
}

function readText({ statement }: Connection, key: string, now: Microseconds): StateText {
  const row = statement(READ).get(key, now) as { readonly value: string } | undefined
  return row?.value
}

const readTexts = (
  connection: Connection,
  keys: Iterable<string>,
  now: Microseconds,
): Map<string, StateText> =>
  new Map(Array.from(keys, (key) => [key, readText(connection, key, now)]))

/** The values of the keys at one moment. */
export const readStateTexts = (
  connection: Connection,
  keys: readonly string[],
  now: Microseconds,
): StateTexts => connection.snapshot(() => readTexts(connection, keys, now))

/** See `EventStore.readStates`. */
export function readStateRange(
  { statement }: Connection,
  prefix: string,
  { after, limit }: ReadStatesOptions,
  now: Microseconds,
): (readonly [string, JsonValue])[] {
  const isAfter = after !== undefined && compareText(after, prefix) >= 0
  const rows = (
    isAfter
      ? statement(READ_AFTER).all(after, now, limit)
      : statement(READ_FROM).all(prefix, now, limit)
  ) as { readonly key: string; readonly value: string }[]
  // Keys with the prefix follow each other.
  return rows
    .filter(({ key }) => key.startsWith(prefix))
    .map(({ key, value }) => [key, JSON.parse(value) as JsonValue] as const)
}

function writeTexts(
  { statement }: Connection,
  after: StateTexts,
  { now, keepFor }: { readonly now: Microseconds; readonly keepFor: Microseconds | undefined },
): void {
  if (after.size > 0 && keepFor !== undefined) statement(DELETE_EXPIRED).run(now)
  for (const [key, text] of after) {
    if (text === undefined) statement('DELETE FROM daybook_state WHERE key = ?').run(key)
    else statement(WRITE_STATE).run(key, text, keepFor === undefined ? null : now + keepFor)
  }
}

/**
 * Writes the values unless one of those that were read has changed: returns the values that are there then. Call it
 * within a write transaction.
 */
export function replaceStates(
  connection: Connection,
  { before, after, keepFor }: StatesChange,
  now: Microseconds,
): StateTexts | undefined {
  const found = readTexts(connection, before.keys(), now)
  for (const [key, text] of before) if (found.get(key) !== text) return found
  writeTexts(connection, after, { now, keepFor })
  return undefined
}
