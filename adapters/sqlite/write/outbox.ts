import { throwIfAborted } from '../../../src/errors.js'
import type { DraftThrottle, EventDraft, JsonObject } from '../../../src/event/event.js'
import { type JsonText, toJsonText } from '../../../src/event/json.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { SqlTransaction } from '../../../src/store/sql-transaction.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type Connection, storeFailure } from '../connection/connection.js'
import type { SqliteDatabase, SqliteStatement } from '../connection/database.js'
import { fileOf, hostHandle, refused } from '../connection/host-handle.js'
import { LIMIT } from '../connection/limit.js'
import { readCaptured } from '../schema/captured-rows.js'
import { createLibraryInsert, type LibraryInsert } from './library-transaction.js'

/** Drafts that hosts insert in their own transactions; the next append moves them to the log. */
export interface Outbox {
  /**
   * Inserts the draft through the host's handle, as part of its open transaction. The statement has run,
   * or was handed to the library of the host, when the call returns.
   */
  enlist(
    draft: EventDraft,
    transaction: object,
    now: Microseconds,
    options: WaitOptions,
  ): Promise<void> | undefined
  /** True if there are committed drafts. */
  hasDrafts(): boolean
  /** Removes and returns up to {@link MAX_MOVED_DRAFTS} of the oldest drafts. Call it within a write transaction. */
  take(): readonly OutboxDraft[]
}

// With the drafts of one append, moving them blocks the event loop for some milliseconds.
export const MAX_MOVED_DRAFTS = 500

/** A draft from the outbox, with the time of its insertion. */
export interface OutboxDraft {
  readonly draft: EventDraft
  readonly recordedAt: Microseconds
}

interface OutboxRow {
  readonly id: number
  readonly suffix: string
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly system: 0 | 1
  readonly attributes: string
  readonly recorded_at: Microseconds
  readonly throttle_key: string | null
  readonly throttle_scope: string | null
  readonly throttle_period: Microseconds | null
}

const COLUMNS = [
  'suffix',
  'type',
  'username',
  'source',
  'system',
  'attributes',
  'recorded_at',
  'throttle_key',
  'throttle_scope',
  'throttle_period',
]

// With `main`, as a temporary table of the host may have the same name.
const TABLE = 'main.daybook_outbox'

const INSERT = `INSERT INTO ${TABLE} (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`

const TAKE = `SELECT id, ${COLUMNS.join(', ')} FROM daybook_outbox ORDER BY id ${LIMIT}`

interface HostInsert {
  readonly handle: SqliteDatabase
  readonly insert: SqliteStatement
}

export function createOutbox(connection: Connection): Outbox {
  const file = fileOf(connection.database)
  const inserts = new WeakMap<object, HostInsert>()
  let libraries: LibraryInsert | undefined

  /** A handle stays on its file, so one that was checked before can only have been closed. */
  const insertOn = (transaction: object): SqliteStatement => {
    const known = inserts.get(transaction)
    const handle = known?.handle.open
      ? known.handle
      : hostHandle(transaction, file, connection.driver)
    if (!handle.inTransaction) throw refused('no transaction is open on the database handle')
    if (handle === known?.handle) return known.insert
    const insert = handle.prepare(INSERT)
    inserts.set(transaction, { handle, insert })
    return insert
  }

  return {
    enlist(draft, transaction, now, { signal }) {
      throwIfAborted(signal)
      const { suffix, type, username, source, system, json, throttle } = draft
      const { key = null, scope, period = null } = throttle ?? {}
      const throttled = [key, scope ? JSON.stringify(scope) : null, period]
      const values = [suffix, type, username, source, system ? 1 : 0, json, now, ...throttled]
      if (transaction instanceof SqlTransaction) {
        if (file === undefined) throw refused('the log is not in a file')
        libraries ??= createLibraryInsert(connection.database, { table: TABLE, columns: COLUMNS })
        return libraries.insert(transaction, values)
      }
      try {
        insertOn(transaction).run(...values)
      } catch (error) {
        throw storeFailure(error)
      }
      return undefined
    },
    hasDrafts: () =>
      connection.statement('SELECT 1 FROM daybook_outbox LIMIT 1').get() !== undefined,
    take() {
      const rows = connection.statement(TAKE).all(MAX_MOVED_DRAFTS) as OutboxRow[]
      const last = rows.at(-1)
      // Ids only increase, so these are all the rows up to the last id.
      if (last) connection.statement('DELETE FROM daybook_outbox WHERE id <= ?').run(last.id)
      return rows.map((row) => ({ draft: draftOf(row), recordedAt: row.recorded_at }))
    },
  }
}

function recordedAttributes(text: string): JsonText {
  const attributes = JSON.parse(text) as JsonObject
  // Others than `record` may have inserted it.
  const isOurs = JSON.stringify(attributes) === text && !text.includes('\\u0000')
  return isOurs ? { attributes, json: text } : toJsonText(attributes)
}

function draftOf(row: OutboxRow): EventDraft {
  const { suffix, type, username, source, system } = row
  const { throttle_key: key, throttle_scope: scope, throttle_period: period } = row
  const throttle: DraftThrottle | undefined =
    key === null || scope === null || period === null
      ? undefined
      : { key, scope: JSON.parse(scope) as JsonObject, period }
  const content = readCaptured(row) ?? {
    suffix,
    username,
    ...recordedAttributes(row.attributes),
  }
  return { type, source, system: system === 1, throttle, ...content }
}
