import { AuditLogError, invalidOption } from '../../src/errors.js'
import {
  type CaptureAsArguments,
  type CaptureContext,
  readCaptureArguments,
} from '../../src/recording/call-context.js'
import { readLinks } from '../../src/recording/read-links.js'
import {
  CAPTURE_OPTIONS,
  type CaptureOptions,
  type CapturePlan,
  captureResult,
  type CaptureResult,
  type FoundTable,
  planCaptures,
  readTables,
} from '../../src/store-kit/capture.js'
import { quoteName } from '../../src/store-kit/sql.js'
import { SqlTransaction } from '../../src/store/sql-transaction.js'
import type { SqliteDatabase } from './connection/database.js'
import { asDatabase, checkHandle, driverOf, type HostDatabase } from './connection/host-handle.js'
import {
  ACTOR_TABLE,
  captureTriggers,
  FIND_TRIGGERS,
  type TableForm,
} from './schema/capture-triggers.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

/** A handle that is open on the log's file. */
interface DatabaseOption {
  /** A better-sqlite3 `Database` or a `DatabaseSync` of `node:sqlite`, open on the log's file. */
  readonly database: HostDatabase
}

export type SqliteCaptureOptions = CaptureOptions & DatabaseOption

const SQLITE_CAPTURE_OPTIONS: OptionNames<SqliteCaptureOptions> = {
  ...CAPTURE_OPTIONS,
  database: true,
}

export interface SqliteRemoveCaptureOptions extends DatabaseOption {
  /** @default all captured tables */
  readonly tables?: readonly string[]
}

const REMOVE_CAPTURE_OPTIONS: OptionNames<SqliteRemoveCaptureOptions> = {
  database: true,
  tables: true,
}

interface Trigger {
  readonly name: string
  readonly table: string
  readonly sql: string
}

function readDatabase({ database }: DatabaseOption): SqliteDatabase {
  if (!database || typeof database !== 'object' || !driverOf(database))
    throw invalidOption('database must be a handle of better-sqlite3 or node:sqlite')
  const handle = asDatabase(database)
  if (!handle.open) throw invalidOption('database: the handle is closed')
  return handle
}

/** Runs `act` in the handle's transaction, or in one of its own. */
function inTransaction<Result>(database: SqliteDatabase, act: () => Result): Result {
  const isOwn = !database.inTransaction
  try {
    if (isOwn) database.exec('BEGIN IMMEDIATE')
    const result = act()
    if (isOwn) database.exec('COMMIT')
    return result
  } catch (error) {
    if (isOwn && database.inTransaction) database.exec('ROLLBACK')
    if (error instanceof AuditLogError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new AuditLogError('STORE_FAILED', `cannot change the triggers: ${reason}`, {
      cause: error,
    })
  }
}

/** The rows of a query, with integers as numbers whatever the handle's default. */
const ask = (database: SqliteDatabase, text: string, ...params: unknown[]): unknown[] =>
  database
    .prepare(text)
    .safeIntegers(false)
    .all(...params)

const hasTable = (database: SqliteDatabase, name: string): boolean =>
  ask(database, `SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?`, name).length >
  0

interface FoundSqliteTable extends FoundTable, TableForm {}

// Any one names the rowid unless a column has the name.
const ROWID_NAMES = ['rowid', '_rowid_', 'oid']

/** Columns that keep integers and real numbers as they are: without a type, of type BLOB, and ANY of strict tables. */
const isUntyped = (type: string, isStrict: boolean): boolean =>
  type === '' ||
  (isStrict ? /^any$/i.test(type) : /blob/i.test(type) && !/int|char|clob|text/i.test(type))

/** `hidden` is 1 for hidden columns of virtual tables, 2 and 3 for generated columns. */
function findTable(database: SqliteDatabase, name: string): FoundSqliteTable {
  if (name.toLowerCase().startsWith('daybook_'))
    throw invalidOption(`the table ${name} belongs to the log`)
  const [found] = ask(
    database,
    `SELECT type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?`,
    name,
  ) as { readonly type: string; readonly wr: 0 | 1; readonly strict: 0 | 1 }[]
  if (found?.type !== 'table') {
    const is = found ? `${name} is a ${found.type}` : `there is no table ${name}`
    throw invalidOption(`${is} in ${database.name}: triggers need an ordinary table`)
  }
  // SQLite would create the triggers on it.
  if (
    ask(database, `SELECT 1 FROM temp.sqlite_schema WHERE name = ? COLLATE NOCASE`, name).length > 0
  )
    throw invalidOption(
      `a temporary table or view of the handle is called ${name} too: drop it first`,
    )
  const columns = ask(
    database,
    `SELECT name, type, pk FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1`,
    name,
  ) as { readonly name: string; readonly type: string; readonly pk: number }[]
  const taken = new Set(columns.map((column) => column.name.toLowerCase()))
  const primaryKey = columns
    .filter(({ pk }) => pk > 0)
    .toSorted((a, b) => a.pk - b.pk)
    .map((column) => column.name)
  const rowid = found.wr === 1 ? undefined : ROWID_NAMES.find((one) => !taken.has(one))
  return {
    columns: columns.map((column) => column.name),
    primaryKey,
    untyped: columns
      .filter(({ type }) => isUntyped(type, found.strict === 1))
      .map((column) => column.name),
    place: rowid === undefined ? primaryKey : [rowid],
  }
}

/** Creates all triggers, in their order, if one is missing or differs, and drops those that the table had under another name. */
function install(
  database: SqliteDatabase,
  plan: CapturePlan,
  form: TableForm,
): keyof CaptureResult {
  const wanted = captureTriggers(plan, form)
  const known = (ask(database, FIND_TRIGGERS) as Trigger[]).filter(
    ({ name, table }) => table === plan.name || wanted.has(name),
  )
  const isKept = known.every(({ name, sql }) => wanted.get(name) === sql)
  if (isKept && known.length === wanted.size) return 'unchanged'
  for (const { name } of known) database.exec(`DROP TRIGGER main.${quoteName(name)}`)
  for (const sql of wanted.values()) database.exec(sql)
  return known.length > 0 ? 'replaced' : 'installed'
}

/**
 * Creates triggers on tables in the log's file. From then on, each row that any program inserts, updates or deletes
 * leaves an event in the same transaction: `audit:<table>:create`, `:update` or `:destroy`, with the row as
 * `before` and `after`. Run it after the migrations at each start: it changes nothing if the triggers are those of
 * the options and the columns. Tables that are not in the options stay as they are. Works in the handle's open
 * transaction, or in one of its own.
 *
 * Throws `INVALID_OPTION` for tables and columns that do not exist, tables without a primary key, and a file without
 * a log; `STORE_FAILED` with the driver's error, such as for a locked file.
 */
export function captureChanges(options: SqliteCaptureOptions): CaptureResult {
  requireOptions(options, SQLITE_CAPTURE_OPTIONS, 'captureChanges')
  const tables = readTables(options)
  readLinks(options.links, 'captureChanges')
  const database = readDatabase(options)
  checkHandle(options.database)
  return inTransaction(database, () => {
    if (!hasTable(database, 'daybook_outbox'))
      throw invalidOption(
        `${database.name || 'the database'} has no audit log: open the store first`,
      )
    const found = tables.map(({ name }) => findTable(database, name))
    const plans = planCaptures(tables, options, found)
    if (!hasTable(database, 'daybook_actor')) database.exec(ACTOR_TABLE)
    return captureResult(
      plans,
      plans.map((plan, i) => install(database, plan, found[i]!)),
    )
  })
}

/**
 * Drops the triggers of `captureChanges`. Events of earlier changes stay. Returns the names of the tables that had
 * any. Throws as `captureChanges` does.
 */
export function removeCapture(options: SqliteRemoveCaptureOptions): readonly string[] {
  requireOptions(options, REMOVE_CAPTURE_OPTIONS, 'removeCapture')
  const { tables } = options
  if (tables !== undefined) readTables({ tables })
  const database = readDatabase(options)
  checkHandle(options.database)
  return inTransaction(database, () => {
    const triggers = (ask(database, FIND_TRIGGERS) as Trigger[]).filter(
      ({ table }) => tables === undefined || tables.includes(table),
    )
    for (const { name } of triggers) database.exec(`DROP TRIGGER main.${quoteName(name)}`)
    return [...new Set(triggers.map(({ table }) => table))]
  })
}

const SET_ACTOR = 'INSERT INTO main.daybook_actor (username, attributes) VALUES (?, ?)'
const CLEAR_ACTOR = 'DELETE FROM main.daybook_actor'

/**
 * Calls `run` and returns its result. Rows that the transaction changes meanwhile are captured with this actor, or
 * with the current one if none is given, and with the ids of the current request and of the active span, as `record`
 * adds them. Rows that change outside of such a call are captured without these. The transaction is an open one of
 * the host: a handle, or one of `daybook/orm`, for which a promise is returned unless the library is synchronous, as
 * Drizzle is with better-sqlite3; `run` must then be synchronous too. Calls for one transaction must not be nested.
 * Throws `INVALID_OPTION` if no transaction is open, if nothing is captured in the database, or for another actor than
 * `withActor` takes.
 */
export function captureAs<Result>(
  transaction: HostDatabase,
  ...given: CaptureAsArguments<Result>
): Result
export function captureAs<Result>(
  transaction: SqlTransaction,
  ...given: CaptureAsArguments<Result>
): Result | Promise<Awaited<Result>>
export function captureAs<Result>(
  transaction: HostDatabase | SqlTransaction,
  ...given: CaptureAsArguments<Result>
): Result | Promise<Awaited<Result>> {
  const { context, run } = readCaptureArguments(given)
  if (transaction instanceof SqlTransaction) return runAs(transaction, context, run)
  const database = readDatabase({ database: transaction })
  if (!database.inTransaction)
    throw invalidOption('transaction: no transaction is open on the handle')
  const { username, attributes } = context
  setActor(() => database.prepare(SET_ACTOR).run(username, attributes))
  // The transaction may have ended meanwhile, and with it the actor, unless it was committed.
  const clear = (): void => {
    if (database.open) database.exec(CLEAR_ACTOR)
  }
  let result: Result
  try {
    result = run()
  } catch (error) {
    clear()
    throw error
  }
  if (result instanceof Promise) return result.finally(clear) as Result
  clear()
  return result
}

function setActor<Value>(act: () => Value): Value {
  try {
    return act()
  } catch (cause) {
    throw notCaptured(cause)
  }
}

const notCaptured = (cause: unknown): AuditLogError => {
  if (cause instanceof AuditLogError) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  return invalidOption(
    `transaction: the actor cannot be set (${reason}): run captureChanges on the log's file first`,
    cause,
  )
}

function runAs<Result>(
  transaction: SqlTransaction,
  { username, attributes }: CaptureContext,
  run: () => Result,
): Result | Promise<Awaited<Result>> {
  const isSet = setActor(() =>
    transaction.run(`${SET_ACTOR} RETURNING 1 AS done`, [username, attributes]),
  )
  if (isThenable(isSet)) return runOnceSet(transaction, isSet, run)
  try {
    return run()
  } finally {
    // A synchronous transaction ends before a promise of `run` does.
    void clearIn(transaction)
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as Partial<PromiseLike<unknown>> | undefined)?.then === 'function'

async function runOnceSet<Result>(
  transaction: SqlTransaction,
  isSet: PromiseLike<unknown>,
  run: () => Result,
): Promise<Awaited<Result>> {
  try {
    await isSet
  } catch (cause) {
    throw notCaptured(cause)
  }
  try {
    return await run()
  } finally {
    await clearIn(transaction)
  }
}

async function clearIn(transaction: SqlTransaction): Promise<void> {
  try {
    await transaction.run(`${CLEAR_ACTOR} RETURNING 1 AS done`, [])
  } catch {
    // The transaction has ended, or can only be rolled back.
  }
}
