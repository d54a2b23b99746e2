import { parseEventId } from '../../../src/event/event-id.js'
import type { JsonObject } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { isNextRevision } from '../../../src/store/live-revision.js'
import type { LiveChange } from '../../../src/store/store.js'
import type { Connection } from '../connection/connection.js'
import { LIVE_COLUMNS, membersOf, withTexts } from '../schema/live-rows.js'
import type { EventRow } from '../schema/rows.js'
import type { Tables } from '../schema/log-tables.js'
import { insertLate, type NewEvent } from './insert.js'

/* The changes of open live events. Call them within a write transaction. */

const INSERT = `INSERT INTO daybook_live (${LIVE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)`
const CHANGE =
  'UPDATE daybook_live SET attributes = ?, revision = ?, heartbeats = heartbeats + 1 WHERE created_at = ?'
const TOUCH =
  'UPDATE daybook_live SET heartbeats = heartbeats + 1 WHERE created_at = ? AND suffix = ?'
const DELETE = 'DELETE FROM daybook_live WHERE created_at = ?'
const INSERT_TEXT = 'INSERT INTO daybook_live_texts VALUES (?, ?, ?, ?, ?)'
const SELECT_KEYS = 'SELECT DISTINCT key FROM daybook_live_texts WHERE created_at = ?'
const DELETE_KEY = 'DELETE FROM daybook_live_texts WHERE created_at = ? AND key = ?'
const DELETE_TEXTS = 'DELETE FROM daybook_live_texts WHERE created_at = ?'

export function insertLive(
  { statement }: Connection,
  { suffix, type, username, source, system, json }: NewEvent,
  time: Microseconds,
): void {
  statement(INSERT).run(time, suffix, type, username, source, system ? 1 : 0, json)
}

/** Applies the change, unless it was applied before. Returns false if the event is not open. */
export function changeLive({ connection, live }: Tables, id: string, change: LiveChange): boolean {
  const row = live.row(id)
  if (!row) return false
  if (!isNextRevision(row.revision, change)) return true
  const json = applyChange(connection, row, change)
  connection.statement(CHANGE).run(json, change.revision, row.created_at)
  return true
}

/** Inserts and drops texts of the row as the change requires; returns the other attributes as JSON text. */
function applyChange(
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
    statement(INSERT_TEXT).run(created_at, revision, position, key, text)
  }
  for (const key of replaced) base?.set(key, '')
  return base ? JSON.stringify(Object.fromEntries(base)) : attributes
}

/** Adds a heartbeat to each of the events that is open. */
export function touchLive({ statement }: Connection, ids: readonly string[]): void {
  const touchOne = statement(TOUCH)
  for (const id of ids) {
    const carried = parseEventId(id)
    if (carried) touchOne.run(carried.time, carried.suffix)
  }
}

/** Moves the event to the table of events, with the `added` attributes, if it is open. */
function moveLive({ connection, live }: Tables, id: string, added?: JsonObject): void {
  const row = live.row(id)
  if (!row) return
  const { attributes, created_at: time, ...rest } = withTexts(connection, row)
  const json = added
    ? JSON.stringify({ ...(JSON.parse(attributes) as JsonObject), ...added })
    : attributes
  insertLate(connection, { ...rest, system: row.system === 1, json }, time)
  connection.statement(DELETE).run(time)
  connection.statement(DELETE_TEXTS).run(time)
}

/** Applies the change, and closes the event, if it is open. */
export function closeLive(tables: Tables, id: string, change: LiveChange): void {
  if (changeLive(tables, id, change)) moveLive(tables, id)
}

/** Closes an event whose process is gone as unfinished, unless it got a heartbeat since `heartbeats`. */
export function abandonLive(tables: Tables, id: string, heartbeats: number): void {
  if (tables.live.row(id)?.heartbeats === heartbeats) moveLive(tables, id, { unfinished: true })
}
