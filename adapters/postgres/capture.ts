import { createHash } from 'node:crypto'
import { invalidOption } from '../../src/errors.js'
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
import type { SqlTransaction } from '../../src/store/sql-transaction.js'
import {
  ask,
  checkOut,
  giveBack,
  type PostgresClient,
  type PostgresPool,
  type PostgresPoolClient,
  runInTransaction,
} from './connection/client.js'
import { asAuditLogError } from './connection/failures.js'
import { type ColumnCode, structureOf } from './schema/capture-columns.js'
import { captureFunction, sharedFunctions } from './schema/capture-triggers.js'
import { type Names, namesIn } from './schema/names.js'
import { checkClient, literal, REQUIRE_TRANSACTION } from './write/outbox.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

interface PoolOption {
  /** A `Pool` of pg that is connected to the log's database, as the owner of the tables. */
  readonly pool: PostgresPool
  /** The schema of the log. @default 'daybook' */
  readonly schema?: string
}

/** The tables are named as `orders`, found by the `search_path`, or as `sales.orders`. */
export type PostgresCaptureOptions = CaptureOptions & PoolOption

const POSTGRES_CAPTURE_OPTIONS: OptionNames<PostgresCaptureOptions> = {
  ...CAPTURE_OPTIONS,
  pool: true,
  schema: true,
}

export interface PostgresRemoveCaptureOptions extends PoolOption {
  /** @default all captured tables */
  readonly tables?: readonly string[]
}

const REMOVE_CAPTURE_OPTIONS: OptionNames<PostgresRemoveCaptureOptions> = {
  pool: true,
  schema: true,
  tables: true,
}

const hash = (text: string): string => createHash('md5').update(text).digest('hex')

/**
 * The beginning of the names of triggers. Triggers of a row fire by name: the space lets ours fire before those of the host, which
 * may change the row again.
 */
const TRIGGER = ' daybook_capture_'

/** The trigger for rows, and the one for TRUNCATE. */
function triggerNames({ schemaName }: Names): readonly [rows: string, truncate: string] {
  const name = `${TRIGGER}${hash(schemaName).slice(0, 8)}`
  return [name, `${name}_truncate`]
}

/** Runs `act` in a transaction in which no other process changes the triggers of the log. */
async function change<Result>(
  { pool, schema = 'daybook' }: PoolOption,
  act: (client: PostgresPoolClient, names: Names) => Promise<Result>,
): Promise<Result> {
  const names = namesIn(schema)
  if (typeof pool?.connect !== 'function') throw invalidOption('pool must be a Pool of pg')
  let client: PostgresPoolClient | undefined
  let isSound = false
  try {
    client = await checkOut(pool)
    const found = client
    const result = await runInTransaction(found, async () => {
      await ask(found, `SELECT pg_advisory_xact_lock(${names.locks.schema})`)
      return act(found, names)
    })
    isSound = true
    return result
  } catch (error) {
    throw asAuditLogError(error)
  } finally {
    if (client) giveBack(client, isSound)
  }
}

interface CatalogTable extends FoundTable {
  readonly name: string
  readonly oid: string
  /** Quoted and qualified. */
  readonly table: string
}

/**
 * The SQL identifiers that a name may mean: `sales.orders` is a table in the schema `sales`, or a table with a
 * dot in its name.
 */
const identifiersOf = (name: string): string[] => {
  const dot = name.indexOf('.')
  const whole = quoteName(name)
  return dot > 0
    ? [`${quoteName(name.slice(0, dot))}.${quoteName(name.slice(dot + 1))}`, whole]
    : [whole]
}

/** The names of the tables that exist, by their ids. */
async function oidsOf(
  client: PostgresPoolClient,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const oids = new Map<string, string>()
  for (const name of names)
    for (const [oid] of await ask(
      client,
      'SELECT to_regclass(identifier)::oid FROM unnest($1::text[]) AS identifier',
      identifiersOf(name),
    ))
      if (oid) oids.set(oid, name)
  return oids
}

async function findTable(
  client: PostgresPoolClient,
  names: Names,
  name: string,
): Promise<CatalogTable> {
  const found = await ask(
    client,
    `SELECT pg_class.oid, format('%I.%I', nspname, relname), relkind, nspname = $2
     FROM unnest($1::text[]) WITH ORDINALITY AS one(identifier, i)
     JOIN pg_class ON pg_class.oid = to_regclass(identifier)
     JOIN pg_namespace ON pg_namespace.oid = relnamespace
     ORDER BY i LIMIT 1`,
    identifiersOf(name),
    names.schemaName,
  )
  const [oid, table, kind, isOurs] = found[0] ?? []
  if (!oid || !table) throw invalidOption(`there is no table ${name} in the log's database`)
  if (isOurs === 't') throw invalidOption(`the table ${name} belongs to the log`)
  if (kind !== 'r' && kind !== 'p')
    throw invalidOption(`${name} is not a table: triggers need an ordinary or a partitioned table`)
  const columns = await ask(
    client,
    `SELECT attname, attgenerated FROM pg_attribute
     WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    oid,
  )
  const key = await ask(
    client,
    `SELECT attname FROM pg_index
     CROSS JOIN unnest(indkey) WITH ORDINALITY AS part(number, i)
     JOIN pg_attribute ON attrelid = indrelid AND attnum = number
     WHERE indrelid = $1 AND indisprimary ORDER BY i`,
    oid,
  )
  return {
    name,
    oid,
    table,
    columns: columns.map(([column]) => column!),
    primaryKey: key.map(([column]) => column!),
    virtual: columns.filter(([, generated]) => generated === 'v').map(([column]) => column!),
  }
}

const ROW_TYPES = `
  WITH RECURSIVE type(id) AS (
    SELECT atttypid FROM pg_attribute WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
    UNION
    SELECT part.id FROM type JOIN pg_type ON oid = type.id
    CROSS JOIN LATERAL (
      SELECT unnest(ARRAY[typbasetype, typelem])
      UNION ALL SELECT atttypid FROM pg_attribute WHERE attrelid = typrelid AND attnum > 0 AND NOT attisdropped
    ) AS part(id)
  )
  SELECT typrelid FROM type JOIN pg_type ON oid = type.id WHERE typrelid <> 0 ORDER BY 1`

/** SQL for the columns that are captured now. */
async function columnCode(
  client: PostgresPoolClient,
  { capture }: Names,
  { primaryKey, excluded }: CapturePlan,
  oid: string,
): Promise<ColumnCode> {
  const rowTypes = (await ask(client, ROW_TYPES, oid)).map(([id]) => id!)
  const [found] = await ask(
    client,
    `SELECT to_json(code) FROM ${capture.code}($1, $2, $3, 'OLD', 'NEW') AS code`,
    oid,
    primaryKey,
    excluded,
  )
  const code = JSON.parse(found![0]!) as Omit<ColumnCode, 'rowTypes' | 'structure' | 'known'>
  const [structures] = await ask(
    client,
    `SELECT ${structureOf(oid, rowTypes)}, ${structureOf(oid, rowTypes, code.names)}`,
  )
  return { ...code, rowTypes, structure: structures![0]!, known: structures![1]! }
}

/** Throws if a trigger of the host would change rows before they are captured. */
async function checkOrder(
  client: PostgresPoolClient,
  names: Names,
  { name, oid }: CatalogTable,
): Promise<void> {
  const [earlier] = await ask(
    client,
    `SELECT tgname FROM pg_trigger
     WHERE tgrelid = $1 AND tgname < $2::name AND tgname NOT LIKE $3 AND tgtype & 1 = 1 AND tgtype & 66 = 0
     ORDER BY 1 LIMIT 1`,
    oid,
    triggerNames(names)[0],
    `${TRIGGER}%`,
  )
  if (earlier)
    throw invalidOption(
      `the trigger ${JSON.stringify(earlier[0])} of the table ${name} would run before its rows are captured: ` +
        'give it a name that begins with a letter',
    )
}

/** Throws for tables that inherit from one of the tables and are not captured: triggers are not inherited. */
async function checkChildren(
  client: PostgresPoolClient,
  names: Names,
  tables: readonly CatalogTable[],
): Promise<void> {
  const children = await ask(
    client,
    `WITH RECURSIVE child(oid) AS (
       SELECT unnest($1::oid[])
       UNION
       SELECT pg_class.oid FROM child JOIN pg_inherits ON inhparent = child.oid
       JOIN pg_class ON pg_class.oid = inhrelid AND NOT relispartition
     )
     SELECT oid::regclass FROM child
     WHERE oid <> ALL ($1::oid[]) AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = child.oid AND tgname = $2)
     ORDER BY 1`,
    tables.map(({ oid }) => oid),
    triggerNames(names)[0],
  )
  if (children.length > 0)
    throw invalidOption(
      `tables that inherit from captured ones need triggers of their own: add ${children.map(([child]) => child).join(', ')} to tables`,
    )
}

/** The comment on a function that was created by this SQL. */
const commentOn = (sql: string): string => `daybook capture ${hash(sql)}`

/** Creates the functions that all triggers use, unless they are these already. */
async function installShared(client: PostgresPoolClient, names: Names): Promise<void> {
  const sql = sharedFunctions(names)
  const comment = `daybook shared ${hash(sql)}`
  const [known] = await ask(
    client,
    `SELECT obj_description(to_regprocedure($1), 'pg_proc') = $2`,
    `${names.capture.isSecret}(text)`,
    comment,
  )
  if (known?.[0] === 't') return
  await client.query(
    `${sql}; COMMENT ON FUNCTION ${names.capture.isSecret}(text) IS ${literal(comment)}`,
  )
}

async function install(
  client: PostgresPoolClient,
  names: Names,
  plan: CapturePlan,
  { oid, table }: CatalogTable,
): Promise<keyof CaptureResult> {
  // After a restore of the database, the id or the name may belong to another table.
  const name = `${names.schema}.${quoteName(`capture_${oid}_${hash(table).slice(0, 8)}`)}`
  const sql = captureFunction(names, plan, await columnCode(client, names, plan, oid), name)
  const comment = commentOn(sharedFunctions(names) + sql)
  const triggers = triggerNames(names)
  const known = await ask(
    client,
    `SELECT tgname, obj_description(tgfoid, 'pg_proc') = $2
       AND tgfoid = to_regprocedure($3) AND tgenabled <> 'D'
     FROM pg_trigger WHERE tgrelid = $1 AND tgname = ANY ($4::text[])`,
    oid,
    comment,
    `${name}()`,
    triggers,
  )
  if (known.length === 2 && known.every(([, isSame]) => isSame === 't')) return 'unchanged'
  await client.query(`${sql}; COMMENT ON FUNCTION ${name}() IS ${literal(comment)}`)
  // Replacing the function needs no lock on the table, unlike the triggers.
  const lacking = await ask(
    client,
    `SELECT FROM pg_trigger WHERE tgrelid = $1 AND tgname = ANY ($2::text[])
       AND tgfoid = to_regprocedure($3) AND tgenabled <> 'D'`,
    oid,
    triggers,
    `${name}()`,
  )
  if (lacking.length < 2) {
    const [rows, truncate] = triggers.map(quoteName)
    await client.query(`
      DROP TRIGGER IF EXISTS ${rows} ON ${table};
      DROP TRIGGER IF EXISTS ${truncate} ON ${table};
      CREATE TRIGGER ${rows} AFTER INSERT OR UPDATE OR DELETE ON ${table}
        FOR EACH ROW EXECUTE FUNCTION ${name}();
      CREATE TRIGGER ${truncate} AFTER TRUNCATE ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION ${name}();`)
  }
  return known.length > 0 ? 'replaced' : 'installed'
}

/** Drops the functions of tables that are gone, or have another name or no triggers. */
async function dropUnused(client: PostgresPoolClient, { schema }: Names): Promise<void> {
  const unused = await ask(
    client,
    `SELECT pg_proc.oid::regprocedure::text FROM pg_proc
     WHERE pronamespace = to_regnamespace($1)
       AND obj_description(pg_proc.oid, 'pg_proc') LIKE 'daybook capture %'
       AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgfoid = pg_proc.oid)`,
    schema,
  )
  for (const [name] of unused) await ask(client, `DROP FUNCTION ${name}`)
}

/**
 * Creates triggers on tables in the log's database. From then on, each row that any program inserts, updates or
 * deletes leaves an event in the same transaction: `audit:<table>:create`, `:update` or `:destroy`, with the row
 * as `before` and `after`; TRUNCATE leaves `audit:<table>:truncate`. Run it after the migrations at each start: it
 * changes nothing if the triggers are those of the options and the columns. Tables that are not in the options
 * stay as they are. Works in one transaction.
 *
 * Rejects with `INVALID_OPTION` for tables and columns that do not exist, tables without a primary key, and a
 * database without a log; `STORE_FAILED` with the error of the server.
 */
export async function captureChanges(options: PostgresCaptureOptions): Promise<CaptureResult> {
  requireOptions(options, POSTGRES_CAPTURE_OPTIONS, 'captureChanges')
  const tables = readTables(options)
  readLinks(options.links, 'captureChanges')
  return change(options, async (client, names) => {
    const outbox = await ask(
      client,
      'SELECT FROM pg_class WHERE oid = to_regclass($1)',
      names.outbox,
    )
    if (outbox.length === 0)
      throw invalidOption(
        `the schema ${names.schema} has no audit log: open the store and read from it once`,
      )
    const found: CatalogTable[] = []
    for (const { name } of tables) found.push(await findTable(client, names, name))
    const plans = planCaptures(tables, options, found)
    await checkChildren(client, names, found)
    for (const table of found) await checkOrder(client, names, table)
    await installShared(client, names)
    const done: (keyof CaptureResult)[] = []
    for (const [i, plan] of plans.entries())
      done.push(await install(client, names, plan, found[i]!))
    await dropUnused(client, names)
    return captureResult(plans, done)
  })
}

/**
 * Drops the triggers of `captureChanges` and their functions. Events of earlier changes stay. Resolves to the names of
 * the tables that had any. Rejects as `captureChanges` does.
 */
export async function removeCapture(
  options: PostgresRemoveCaptureOptions,
): Promise<readonly string[]> {
  requireOptions(options, REMOVE_CAPTURE_OPTIONS, 'removeCapture')
  const { tables } = options
  const wanted = tables && readTables({ tables }).map(({ name }) => name)
  return change(options, async (client, names) => {
    const named = wanted && (await oidsOf(client, wanted))
    const found = await ask(
      client,
      `SELECT DISTINCT tgrelid, tgrelid::regclass::text FROM pg_trigger
       WHERE tgname = ANY ($1::text[]) AND tgparentid = 0`,
      triggerNames(names),
    )
    const removed: string[] = []
    for (const [oid, table] of found) {
      const name = named ? named.get(oid!) : table!
      if (name === undefined) continue
      for (const trigger of triggerNames(names))
        await ask(client, `DROP TRIGGER IF EXISTS ${quoteName(trigger)} ON ${table}`)
      removed.push(name)
    }
    await dropUnused(client, names)
    return removed
  })
}

/**
 * Calls `run` and resolves to its result. Rows that the transaction changes meanwhile are captured with this actor,
 * or with the current one if none is given, and with the ids of the current request and of the active span, as
 * `record` adds them. Rows that change outside of such a call are captured without these. The transaction is an open
 * one of the host: a client of pg, or one of `daybook/orm`. Calls for one transaction must not be nested. Rejects
 * with `INVALID_OPTION` if no transaction is open, or for another actor than `withActor` takes.
 *
 * Without this function, in SQL: `SELECT set_config('daybook.actor', 'ann', true)`, until the end of the transaction.
 */
export async function captureAs<Result>(
  transaction: PostgresClient | SqlTransaction,
  ...given: CaptureAsArguments<Result>
): Promise<Awaited<Result>> {
  const { context, run } = readCaptureArguments(given)
  checkClient(transaction)
  const set = ({ username, attributes }: CaptureContext): string =>
    `SELECT set_config('daybook.actor', ${literal(username ?? '')}, true),
      set_config('daybook.attributes', ${literal(attributes ?? '')}, true)`
  try {
    await transaction.query(`${REQUIRE_TRANSACTION}; ${set(context)}`)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = `transaction must be a client with an open transaction: BEGIN first (${reason})`
    throw invalidOption(message, cause)
  }
  try {
    return await run()
  } finally {
    // The transaction may have ended, or can only be rolled back.
    await transaction.query(set({ username: null, attributes: null })).catch(() => {})
  }
}
