import { throwIfAborted } from '../../src/errors.js'
import type { EventDraft, JsonObject } from '../../src/event.js'
import type { WaitOptions } from '../../src/store.js'
import { formatTimestamp, type Microseconds } from '../../src/timestamp.js'
import { type Connection, storeFailure } from './connection.js'
import type { SqliteDatabase, SqliteStatement } from './database.js'
import { fileOf, hostHandle } from './host-handle.js'
import type { EventRow } from './rows.js'

/** Drafts that hosts have committed in their own transactions, until they get their place in time. */
export interface Outbox {
  /** Puts the draft in through the host's handle, as part of what is open there. */
  enlist(draft: EventDraft, transaction: object, now: Microseconds, options: WaitOptions): void
  /** True where committed drafts wait. */
  hasSome(): boolean
  /** Takes the oldest out, in order, {@link MAX_MOVED} at most; belongs into a write transaction. */
  take(): readonly OutboxRow[]
}

// With a batch of our own it keeps the event loop for some milliseconds.
export const MAX_MOVED = 500

// An event that becomes visible later than this tells when it was recorded.
const LATE = 1_000_000

export interface OutboxRow extends Omit<EventRow, 'created_at'> {
  readonly id: number
  readonly recorded_at: Microseconds
}

// `main`, so that no temporary table of the host's gets it.
const INSERT = `INSERT INTO main.daybook_outbox
  (tail, type, username, source, system, attributes, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?)`

const TAKE = `SELECT id, tail, type, username, source, system, attributes, recorded_at
  FROM daybook_outbox ORDER BY id LIMIT ?`

export function createOutbox(connection: Connection): Outbox {
  const file = fileOf(connection.database)
  const inserts = new WeakMap<object, SqliteStatement>()

  /** A handle stays on its file: one that was looked at before can only have been closed. */
  const insertOn = (transaction: object): SqliteStatement => {
    const known = inserts.get(transaction)
    if (known && (transaction as SqliteDatabase).open) return known
    const insert = hostHandle(transaction, file).prepare(INSERT)
    inserts.set(transaction, insert)
    return insert
  }

  return {
    enlist(draft, transaction, now, { signal }) {
      throwIfAborted(signal)
      const { tail, type, username, source, system, json } = draft
      try {
        insertOn(transaction).run(tail, type, username, source, system ? 1 : 0, json, now)
      } catch (error) {
        throw storeFailure(error)
      }
    },
    hasSome: () => connection.statement('SELECT 1 FROM daybook_outbox LIMIT 1').get() !== undefined,
    take() {
      const rows = connection.statement(TAKE).all(MAX_MOVED)
      const last = rows.at(-1) as OutboxRow | undefined
      // Ids only rise, so that these are all up to the last.
      if (last) connection.statement('DELETE FROM daybook_outbox WHERE id <= ?').run(last.id)
      return rows as OutboxRow[]
    },
  }
}

/** The attributes' JSON text, with `occurred_at` at its end where the event is late without it. */
export function withOccurredAt(row: OutboxRow, visibleAt: Microseconds): string {
  const { attributes, recorded_at } = row
  if (visibleAt - recorded_at <= LATE) return attributes
  if (Object.hasOwn(JSON.parse(attributes) as JsonObject, 'occurred_at')) return attributes
  const members = attributes.slice(1, -1)
  const added = `"occurred_at":"${formatTimestamp(recorded_at)}"`
  return members === '' ? `{${added}}` : `{${members},${added}}`
}
