import { AuditLogError } from '../../../src/errors.js'
import type { JsonObject } from '../../../src/event/event.js'
import { eventId, parseEventId } from '../../../src/event/event-id.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { Heartbeat } from '../../../src/store/liveness.js'
import type { LiveChange, OpenEvent } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import type { EventTable, NewEvent } from './events.js'
import type { EventRow } from './rows.js'

/**
 * The table of open live events. Closing an event moves it to the table of events in one transaction.
 * Code that reads both tables reads this one first, so it does not miss an event that closes between
 * the two reads. Call the methods that change the table within a write transaction.
 */
export interface LiveTable {
  insert(event: NewEvent, time: Microseconds): void
  /** Call it within a transaction. */
  at(time: Microseconds): EventRow | undefined
  find(id: string): EventRow | undefined
  /** The open events within the bounds, oldest first. */
  between(bounds: TimeBounds): readonly EventRow[]
  /** The times of the open events within the bounds. */
  timesBetween(bounds: TimeBounds): readonly Microseconds[]
  /** Applies the change, unless it was applied before. Returns false if the event is not open. */
  change(id: string, change: LiveChange): boolean
  /** Adds a heartbeat to each of the events that is open. */
  touch(ids: readonly string[]): void
  /** Moves the event to the table of events, with the `added` attributes. */
  close(id: string, added?: JsonObject): void
  open(): readonly OpenEvent[]
  heartbeats(): readonly Heartbeat[]
}

interface LiveRow extends EventRow {
  readonly revision: number
  readonly heartbeats: number
}

const COLUMNS =
  'created_at, suffix, type, username, source, system, attributes, revision, heartbeats'

const INSERT = `INSERT INTO daybook_live (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)`

const INSERT_TEXT = 'INSERT INTO daybook_live_texts VALUES (?, ?, ?, ?, ?)'

export function createLiveTable(connection: Connection, events: EventTable): LiveTable {
  const { database, statement } = connection
  /** Reads rows and their texts in one snapshot. */
  const inSnapshot = <Result>(act: () => Result): Result =>
    database.inTransaction ? act() : connection.snapshot(act)

  const rowAt = (time: Microseconds): LiveRow | undefined =>
    statement(`SELECT ${COLUMNS} FROM daybook_live WHERE created_at = ?`).get(time) as
      | LiveRow
      | undefined

  const rowOf = (id: string): LiveRow | undefined => {
    const carried = parseEventId(id)
    const row = carried && rowAt(carried.time)
    return row?.suffix === carried?.suffix ? row : undefined
  }

  /** The row with its appended texts in the attributes. */
  const withTexts = (row: LiveRow): EventRow => {
    const chunks = statement(
      'SELECT key, text FROM daybook_live_texts WHERE created_at = ? ORDER BY revision, position',
    ).all(row.created_at) as { readonly key: string; readonly text: string }[]
    if (chunks.length === 0) return row
    const base = new Map(Object.entries(parse(row.attributes)))
    for (const { key, text } of chunks) {
      const before = base.get(key)
      base.set(key, typeof before === 'string' ? before + text : text)
    }
    return { ...row, attributes: JSON.stringify(Object.fromEntries(base)) }
  }

  /** The keys of attributes to which text was appended. */
  const keysWithTexts = (time: Microseconds): string[] => {
    const text = 'SELECT DISTINCT key FROM daybook_live_texts WHERE created_at = ?'
    return (statement(text).all(time) as { readonly key: string }[]).map(({ key }) => key)
  }

  const dropTexts = (time: Microseconds, key: string): void => {
    statement('DELETE FROM daybook_live_texts WHERE created_at = ? AND key = ?').run(time, key)
  }

  /** Inserts the texts; returns the other attributes as JSON text. */
  const apply = (row: LiveRow, { revision, json, texts = [] }: LiveChange): string => {
    const time = row.created_at
    const replaced = texts.filter(({ replaces }) => replaces).map(({ key }) => key)
    const isSame = json === undefined && replaced.length === 0
    const base = isSame ? undefined : new Map(Object.entries(parse(json ?? row.attributes)))
    if (json !== undefined) {
      // Text cannot be appended to an attribute that was removed or that is no text any more.
      for (const key of keysWithTexts(time))
        if (typeof base?.get(key) !== 'string') dropTexts(time, key)
    }
    for (const [position, { key, text, replaces }] of texts.entries()) {
      if (replaces) dropTexts(time, key)
      statement(INSERT_TEXT).run(time, revision, position, key, text)
    }
    for (const key of replaced) base?.set(key, '')
    return base ? JSON.stringify(Object.fromEntries(base)) : row.attributes
  }

  return {
    insert({ suffix, type, username, source, system, json }, time) {
      statement(INSERT).run(time, suffix, type, username, source, system ? 1 : 0, json)
    },
    at(time) {
      const row = rowAt(time)
      return row && withTexts(row)
    },
    find(id) {
      // Most events are not open: these need no snapshot.
      if (!rowOf(id)) return undefined
      return inSnapshot(() => {
        const row = rowOf(id)
        return row && withTexts(row)
      })
    },
    between({ from, to }) {
      const text = `SELECT ${COLUMNS} FROM daybook_live WHERE created_at BETWEEN ? AND ? ORDER BY created_at`
      return inSnapshot(() => (statement(text).all(from, to) as LiveRow[]).map(withTexts))
    },
    timesBetween({ from, to }) {
      const text = `SELECT created_at FROM daybook_live WHERE created_at BETWEEN ? AND ? ORDER BY created_at`
      return (statement(text).all(from, to) as LiveRow[]).map((row) => row.created_at)
    },
    change(id, change) {
      const row = rowOf(id)
      if (!row) return false
      if (change.revision <= row.revision) return true
      if (change.revision > row.revision + 1) {
        const message = `change ${change.revision} of a live event cannot follow change ${row.revision}`
        throw new AuditLogError('INVALID_OPTION', message)
      }
      statement(
        'UPDATE daybook_live SET attributes = ?, revision = ?, heartbeats = heartbeats + 1 WHERE created_at = ?',
      ).run(apply(row, change), change.revision, row.created_at)
      return true
    },
    touch(ids) {
      const touchOne = statement(
        'UPDATE daybook_live SET heartbeats = heartbeats + 1 WHERE created_at = ? AND suffix = ?',
      )
      for (const id of ids) {
        const carried = parseEventId(id)
        if (carried) touchOne.run(carried.time, carried.suffix)
      }
    },
    close(id, added) {
      const row = rowOf(id)
      if (!row) return
      const { attributes, ...rest } = withTexts(row)
      const json = added ? JSON.stringify({ ...parse(attributes), ...added }) : attributes
      const time = row.created_at
      events.insertLate({ ...rest, system: row.system === 1, json }, time)
      statement('DELETE FROM daybook_live WHERE created_at = ?').run(time)
      statement('DELETE FROM daybook_live_texts WHERE created_at = ?').run(time)
    },
    open() {
      const text = 'SELECT created_at, suffix, revision FROM daybook_live ORDER BY created_at'
      const rows = statement(text).all() as LiveRow[]
      return rows.map(({ created_at, suffix, revision }) => ({
        id: eventId(created_at, suffix),
        revision,
      }))
    },
    heartbeats() {
      const rows = statement(
        'SELECT created_at, suffix, heartbeats FROM daybook_live',
      ).all() as LiveRow[]
      return rows.map(({ created_at, suffix, heartbeats }) => ({
        id: eventId(created_at, suffix),
        heartbeats,
      }))
    },
  }
}

function parse(json: string): JsonObject {
  return JSON.parse(json) as JsonObject
}
