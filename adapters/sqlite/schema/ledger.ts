import type { Microseconds } from '../../../src/event/timestamp.js'
import { placeOf } from '../../../src/ledger/places.js'
import {
  type LateEvent,
  type LeafRow,
  LEAVES_PER_ROW,
  type LedgerAddition,
  type LedgerRemoval,
  type LedgerState,
  type LedgerStatement,
  type NodePlace,
  type Waiting,
} from '../../../src/store/ledger.js'
import {
  isSameState,
  MAX_WAITING,
  noLedger,
  schemaWithoutLedger,
} from '../../../src/store/ledger-errors.js'
import type { Connection } from '../connection/connection.js'
import { LIMIT } from '../connection/limit.js'

/*
 * The tables of a ledger. They are created when the ledger begins. From then on a trigger lists late events, whichever process
 * stores them. `id` of a node is its level and its index in one number; `leaf` of a late event is null until it is sealed.
 */
const CREATE = `
  CREATE TABLE daybook_ledger (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    size INTEGER NOT NULL,
    sealed_to INTEGER NOT NULL,
    late_to INTEGER NOT NULL,
    head TEXT,
    voucher TEXT,
    revision TEXT NOT NULL
  ) STRICT;
  CREATE TABLE daybook_ledger_rows (
    id INTEGER PRIMARY KEY,
    after INTEGER NOT NULL,
    last INTEGER NOT NULL,
    places BLOB NOT NULL,
    hashes BLOB NOT NULL,
    seed BLOB NOT NULL
  ) STRICT;
  CREATE INDEX daybook_ledger_rows_last ON daybook_ledger_rows (last);
  CREATE TABLE daybook_ledger_nodes (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL
  ) STRICT;
  CREATE TABLE daybook_ledger_statements (
    leaf INTEGER PRIMARY KEY,
    entry TEXT NOT NULL
  ) STRICT;
  CREATE TABLE daybook_ledger_late (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created_at INTEGER NOT NULL,
    leaf INTEGER
  ) STRICT;
  CREATE INDEX daybook_ledger_late_created_at ON daybook_ledger_late (created_at);
  CREATE TRIGGER daybook_ledger_late_insert AFTER INSERT ON daybook_late
    BEGIN INSERT INTO daybook_ledger_late (created_at) VALUES (new.created_at); END;`

/** The first state, after this time or after the newest event if that is earlier. */
const beginSql = (after: Microseconds): string => `INSERT INTO daybook_ledger
  SELECT 1, 0, min(created_at, ${Math.min(after, Number.MAX_SAFE_INTEGER)}), 0, NULL, NULL, lower(hex(randomblob(16)))
  FROM daybook_high_water;`

/** A ledger that begins after the newest event. */
export const BEGIN_LEDGER = `${CREATE}\n  ${beginSql(Infinity)}`

export const LEDGER_EXISTS = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'daybook_ledger'`

const STATE =
  'SELECT size, sealed_to AS sealedTo, late_to AS lateTo, head, voucher, revision FROM daybook_ledger'

const SET_STATE =
  'UPDATE daybook_ledger SET size = ?, sealed_to = ?, late_to = ?, head = ?, voucher = ?, revision = ?'

const PUT_ROW = 'INSERT OR REPLACE INTO daybook_ledger_rows VALUES (?, ?, ?, ?, ?, ?)'

const ROWS = `SELECT id AS row, after, last, places, hashes, seed FROM daybook_ledger_rows
  WHERE id >= ? ORDER BY id ${LIMIT}`

const ROW_OF = `SELECT id AS row, after, places FROM daybook_ledger_rows
  WHERE last >= ? ORDER BY last, id LIMIT 1`

const STATEMENTS = `SELECT leaf, entry FROM daybook_ledger_statements
  WHERE leaf >= ? AND leaf < ? ORDER BY leaf`

const LATE = `SELECT id, created_at AS time FROM daybook_ledger_late WHERE id > ? ORDER BY id ${LIMIT}`

const LATE_LEAF =
  'SELECT leaf FROM daybook_ledger_late WHERE created_at = ? AND leaf IS NOT NULL LIMIT 1'

const OLDEST = `SELECT created_at FROM daybook_events WHERE created_at > ? ORDER BY created_at LIMIT 1`

const WAITING = `SELECT
  (SELECT count(*) FROM (SELECT 1 FROM daybook_events WHERE created_at > ? ${LIMIT})) +
  (SELECT count(*) FROM (SELECT 1 FROM daybook_ledger_late AS late
    WHERE id > ? AND created_at <= ? AND leaf IS NULL
    AND NOT EXISTS (SELECT 1 FROM daybook_ledger_late AS sealed
      WHERE sealed.created_at = late.created_at AND sealed.leaf IS NOT NULL) ${LIMIT})) AS events`

const REMOVE_LATE = 'DELETE FROM daybook_ledger_late WHERE created_at = ?'

const ADOPT = 'INSERT INTO daybook_ledger_late (created_at, leaf) VALUES (?, ?)'

/* Each takes the number of leaves that stay. */
const CUT = [
  `DELETE FROM daybook_ledger_rows WHERE id * ${LEAVES_PER_ROW} >= ?`,
  'DELETE FROM daybook_ledger_statements WHERE leaf >= ?',
  'UPDATE daybook_ledger_late SET leaf = NULL WHERE leaf >= ?',
]

const CLEAR = ['', '_rows', '_nodes', '_statements', '_late'].map(
  (name) => `DELETE FROM daybook_ledger${name}`,
)

/** Levels of a tree with a safe number of leaves stay below 2^9. */
const LEVEL = 2 ** 44

const nodeId = ({ level, index }: NodePlace): number => level * LEVEL + index

type StateRow = Omit<LedgerState, 'head' | 'voucher'> &
  Readonly<Record<'head' | 'voucher', string | null>>

/** True if the log has a ledger. */
export const hasLedger = ({ statement }: Connection): boolean =>
  statement(LEDGER_EXISTS).get() !== undefined

/** The state of the ledger; `undefined` without one. Throws `NO_LEDGER` if its row was removed. */
export function readState(connection: Connection): LedgerState | undefined {
  let row: StateRow | undefined
  try {
    row = connection.statement(STATE).get() as StateRow | undefined
  } catch (error) {
    // Asked only now, because each read of the ledger begins with its state.
    if (hasLedger(connection)) throw error
    return undefined
  }
  if (!row) throw noLedger()
  return { ...row, head: row.head ?? undefined, voucher: row.voucher ?? undefined }
}

/** Creates the tables unless they exist. Call it within a write transaction. */
export function beginLedger(
  connection: Connection,
  after: Microseconds,
  mayCreate: boolean,
): LedgerState {
  if (!hasLedger(connection)) {
    if (!mayCreate) throw schemaWithoutLedger(connection.database.name)
    connection.database.exec(CREATE + beginSql(after))
  }
  return readState(connection)!
}

/** True if the ledger is still in this state. */
export const isAt = (connection: Connection, before: LedgerState): boolean => {
  const state = readState(connection)
  return state !== undefined && isSameState(state, before)
}

function putState(
  { statement }: Connection,
  { size, sealedTo, lateTo, head, voucher, revision }: LedgerState,
): void {
  statement(SET_STATE).run(size, sealedTo, lateTo, head ?? null, voucher ?? null, revision)
}

function putRows({ statement }: Connection, rows: readonly LeafRow[]): void {
  for (const { row, after, last, places, hashes, seed } of rows)
    statement(PUT_ROW).run(row, after, last, places, hashes, seed)
}

/** Forgets the leaves of removed events. Call it within the write transaction that removes these. */
export function forgetLeaves(
  connection: Connection,
  { after, times, rows, dropped }: LedgerRemoval,
): void {
  const { statement } = connection
  for (const time of times) statement(REMOVE_LATE).run(time)
  putRows(connection, rows)
  for (const row of dropped) statement('DELETE FROM daybook_ledger_rows WHERE id = ?').run(row)
  putState(connection, after)
}

/** See `LedgerStore.restart`. Call it within a write transaction. */
export function restartLedger(
  connection: Connection,
  before: LedgerState,
  after: Microseconds,
): LedgerState | undefined {
  if (!isAt(connection, before)) return undefined
  for (const sql of CLEAR) connection.statement(sql).run()
  connection.database.exec(beginSql(after))
  return readState(connection)
}

/** See `LedgerStore.append`. Call it within a write transaction. */
export function appendLeaves(connection: Connection, addition: LedgerAddition): boolean {
  const { statement } = connection
  const { before, after, adopted = [] } = addition
  if (!isAt(connection, before)) return false
  if (after.size < before.size) for (const sql of CUT) statement(sql).run(after.size)
  putRows(connection, addition.rows)
  for (const node of addition.nodes)
    statement('INSERT OR REPLACE INTO daybook_ledger_nodes VALUES (?, ?)').run(
      nodeId(node),
      node.hash,
    )
  for (const { leaf, entry } of addition.statements)
    statement('INSERT OR REPLACE INTO daybook_ledger_statements VALUES (?, ?)').run(leaf, entry)
  for (const { id, leaf } of addition.late)
    statement('UPDATE daybook_ledger_late SET leaf = ? WHERE id = ?').run(leaf, id)
  for (const { time, leaf } of adopted) statement(ADOPT).run(time, leaf)
  putState(connection, after)
  return true
}

export const readRows = (
  { statement }: Connection,
  from: number,
  limit: number,
): readonly LeafRow[] => statement(ROWS).all(from, limit) as LeafRow[]

export const readNodes = (
  { statement }: Connection,
  places: readonly NodePlace[],
): (Uint8Array | undefined)[] =>
  places.map((place) => {
    const row = statement('SELECT hash FROM daybook_ledger_nodes WHERE id = ?').get(nodeId(place))
    return (row as { readonly hash: Uint8Array } | undefined)?.hash
  })

export const readStatements = (
  { statement }: Connection,
  from: number,
  to: number,
): readonly LedgerStatement[] => statement(STATEMENTS).all(from, to) as LedgerStatement[]

export const readLate = (
  { statement }: Connection,
  after: number,
  limit: number,
): readonly LateEvent[] => statement(LATE).all(after, limit) as LateEvent[]

/** The leaf of the event at a time, if the tables have one. */
export function leafOf({ statement }: Connection, time: Microseconds): number | undefined {
  const late = statement(LATE_LEAF).get(time) as { readonly leaf: number } | undefined
  if (late) return late.leaf
  const row = statement(ROW_OF).get(time) as Pick<LeafRow, 'row' | 'after' | 'places'> | undefined
  const place = row && placeOf(row, time)
  return place === undefined ? undefined : row!.row * LEAVES_PER_ROW + place
}

export function readWaiting({ statement }: Connection, { sealedTo, lateTo }: LedgerState): Waiting {
  const limits = [MAX_WAITING, lateTo, sealedTo, MAX_WAITING] as const
  const counted = statement(WAITING).get(sealedTo, ...limits) as { readonly events: number }
  const oldest = statement(OLDEST).get(sealedTo) as { created_at: Microseconds } | undefined
  return { events: Math.min(MAX_WAITING, counted.events), oldest: oldest?.created_at }
}
