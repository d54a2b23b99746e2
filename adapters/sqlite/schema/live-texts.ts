import type { JsonObject } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { LiveChange } from '../../../src/store/store.js'
import type { Connection } from '../connection/connection.js'
import type { EventRow } from './rows.js'

const INSERT = 'INSERT INTO daybook_live_texts VALUES (?, ?, ?, ?, ?)'

const SELECT =
  'SELECT key, text FROM daybook_live_texts WHERE created_at = ? ORDER BY revision, position'

const SELECT_KEYS = 'SELECT DISTINCT key FROM daybook_live_texts WHERE created_at = ?'

const DELETE_KEY = 'DELETE FROM daybook_live_texts WHERE created_at = ? AND key = ?'

const DELETE = 'DELETE FROM daybook_live_texts WHERE created_at = ?'

/** The row with its appended texts in the attributes. */
export function withTexts({ statement }: Connection, row: EventRow): EventRow {
  const chunks = statement(SELECT).all(row.created_at) as {
    readonly key: string
    readonly text: string
  }[]
  if (chunks.length === 0) return row
  const base = membersOf(row.attributes)
  for (const { key, text } of chunks) {
    const before = base.get(key)
    base.set(key, typeof before === 'string' ? before + text : text)
  }
  return { ...row, attributes: JSON.stringify(Object.fromEntries(base)) }
}

/** Inserts and drops texts of the row as the change requires; returns the other attributes as JSON text. */
export function applyChange(
  { statement }: Connection,
  { created_at, attributes }: EventRow,
  { revision, json, texts = [] }: LiveChange,
): string {
  const dropTexts = (key: string): void => {
    statement(DELETE_KEY).run(created_at, key)
  }
  const replaced = texts.filter(({ replaces }) => replaces).map(({ key }) => key)
  const isSame = json === undefined && replaced.length === 0
  const base = isSame ? undefined : membersOf(json ?? attributes)
  if (json !== undefined) {
    // Text cannot be appended to an attribute that was removed or that is no longer a text.
    const rows = statement(SELECT_KEYS).all(created_at) as { readonly key: string }[]
    for (const { key } of rows) if (typeof base?.get(key) !== 'string') dropTexts(key)
  }
  for (const [position, { key, text, replaces }] of texts.entries()) {
    if (replaces) dropTexts(key)
    statement(INSERT).run(created_at, revision, position, key, text)
  }
  for (const key of replaced) base?.set(key, '')
  return base ? JSON.stringify(Object.fromEntries(base)) : attributes
}

/** Removes all texts of the event at this time. */
export function removeTexts({ statement }: Connection, time: Microseconds): void {
  statement(DELETE).run(time)
}

function membersOf(json: string): Map<string, JsonObject[string]> {
  return new Map(Object.entries(JSON.parse(json) as JsonObject))
}
