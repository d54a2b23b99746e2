import { previousName } from '../../../src/event/changes.js'
import { REDACTED } from '../../../src/event/secrets.js'
import {
  type CapturePlan,
  captureType,
  type KeySource,
  MAX_CAPTURED_BYTES,
} from '../../../src/store-kit/capture.js'
import { quoteName } from '../../../src/store-kit/sql.js'
import { AFTER, BEFORE, CAPTURED } from './captured-rows.js'

/*
 * Triggers that put the changed rows of a table into the outbox. The JSON is put together as text: an SQLite
 * function takes at most 127 arguments, and `json_object` refuses blobs. They call only functions of SQLite 3.38 and
 * later, so that any program can write to the table.
 */

/** The actor of captured changes: only within a transaction, and only while `captureAs` runs. */
export const ACTOR_TABLE = `CREATE TABLE main.daybook_actor (username TEXT, attributes TEXT) STRICT`

const ACTIONS = { create: 'INSERT', update: 'UPDATE', destroy: 'DELETE' } as const

type CapturedAction = keyof typeof ACTIONS

const CAPTURED_ACTIONS = Object.keys(ACTIONS) as readonly CapturedAction[]

const PREFIX = 'daybook_capture_'

/** A literal; SQLite reads U+0000 as the end of a statement. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A literal of JSON text. */
const json = (value: unknown): string => literal(JSON.stringify(value))

/** Joins terms by an operator, nested no deeper than necessary: SQLite limits the depth of expressions to 1000. */
function joined(parts: readonly string[], operator = '||'): string {
  if (parts.length === 1) return parts[0]!
  const half = parts.length >> 1
  return `(${joined(parts.slice(0, half), operator)} ${operator} ${joined(parts.slice(half), operator)})`
}

type Row = 'NEW' | 'OLD'

/** A table as its triggers need it, besides what the plan has. */
export interface TableForm {
  /** Columns without a type affinity, which can hold both 1 and 1.0. */
  readonly untyped: readonly string[]
  /** The declared primary key. */
  readonly primaryKey: readonly string[]
  /** The name of the rowid, or the columns of the primary key of a table without one; empty if a table has neither. */
  readonly place: readonly string[]
}

/** SQL for the rows of one table. */
interface RowSql {
  readonly state: (row: Row) => string
  /** The key as JSON text. */
  readonly key: (row: Row) => string
  /** The bytes of the texts in a row. */
  readonly size: (row: Row) => string
  /** True if two rows differ in one of the columns. */
  readonly differ: (left: string, right: string, columns: readonly string[]) => string
}

// The states of a row with this number of columns stay below the largest text of SQLite, though each character may take six.
const MANY_COLUMNS = 64

/**
 * The JSON text of a value: bytes as their number, and a real number in so many digits that every version of SQLite
 * gives those of the same double. JSON has no infinity, but numbers beyond all doubles. NULL for a text that is larger
 * than all states may be. `json_quote` would take the result of a JSON function, which a column may have been set to, for
 * JSON.
 */
const valueSql = (value: string): string => `CASE typeof(${value})
  WHEN 'text' THEN CASE WHEN length(CAST(${value} AS BLOB)) <= ${MAX_CAPTURED_BYTES} THEN json_quote(${value} || '') END
  WHEN 'real' THEN replace(printf('%!.19g', ${value}), 'Inf', '9e999')
  WHEN 'blob' THEN '{"bytes":' || length(${value}) || '}'
  WHEN 'integer' THEN ${value}
  ELSE 'null' END`

const objectSql = (members: readonly (readonly [name: string, value: string])[]): string =>
  joined([
    `'{'`,
    ...members.flatMap(([name, value], i) => [
      literal(`${i > 0 ? ',' : ''}${JSON.stringify(name)}:`),
      value,
    ]),
    `'}'`,
  ])

function rowSql(
  { primaryKey, link, columns, secret }: CapturePlan,
  untyped: readonly string[],
): RowSql {
  const of = (row: string, column: string): string => `${row}.${quoteName(column)}`
  const shown = (value: string, column: string): string =>
    secret.includes(column)
      ? `CASE WHEN ${value} IS NULL THEN 'null' ELSE ${json(REDACTED)} END`
      : valueSql(value)
  const ofKey = (value: string): string => `coalesce(${valueSql(value)}, 'null')`
  // Compared byte by byte, whatever the collation of the column.
  const differs = (left: string, right: string, column: string): string => {
    const [one, other] = [of(left, column), of(right, column)]
    const values = `${one} IS NOT ${other} COLLATE BINARY`
    return untyped.includes(column) ? `(${values} OR typeof(${one}) <> typeof(${other}))` : values
  }
  return {
    state: (row) => objectSql(columns.map((column) => [column, shown(of(row, column), column)])),
    key: (row) =>
      link === undefined
        ? objectSql(primaryKey.map((column) => [column, ofKey(of(row, column))]))
        : ofKey(of(row, primaryKey[0]!)),
    size: (row) =>
      joined(
        columns.map((column) => `coalesce(length(CAST(${of(row, column)} AS BLOB)), 0)`),
        '+',
      ),
    differ: (left, right, among) =>
      joined(
        among.map((column) => differs(left, right, column)),
        'OR',
      ),
  }
}

const UUID = [8, 4, 4, 4, 12].map((digits) => '[0-9a-f]'.repeat(digits)).join('-')

/** The condition under which a key has the form of a link. `GLOB` ends at a NUL. */
const KEY_FORMS: Readonly<Record<KeySource['kind'], (key: string) => string>> = {
  uuid: (key) => `lower(${key}) GLOB '${UUID}'`,
  code: (key) => `typeof(${key}) = 'text' AND instr(${key}, char(0)) = 0
    AND ${key} NOT IN ('', '.', '..') AND ${key} NOT GLOB '*[^A-Za-z0-9_.-]*'`,
  integer: (key) => `typeof(${key}) IN ('integer', 'text') AND instr(${key}, char(0)) = 0
    AND ${key} || '' <> '' AND ${key} NOT GLOB '*[^0-9]*' AND ${key} NOT GLOB '0?*'`,
}

function sourceSql({ source, primaryKey }: CapturePlan, row: Row): string {
  if (source === undefined) return 'NULL'
  const key = `${row}.${quoteName(primaryKey[0]!)}`
  const end = source.kind === 'uuid' ? `lower(${key})` : key
  return `CASE WHEN ${KEY_FORMS[source.kind](key)} THEN ${literal(source.prefix)} || ${end} END`
}

// Among this many rows of the outbox, the events of one statement are put in order.
const MAX_NESTED = 1000

const NEWEST = '(SELECT max(id) FROM daybook_outbox)'

/**
 * Moves the events of later changes of the row behind the newest event, which is that of the row's own change. `isNext`
 * is true for the event that followed it.
 */
const orderSql = (types: readonly string[], isNext: string): string => `
  UPDATE daybook_outbox SET id = id + newest - next + 1
  FROM (
    SELECT id AS next, ${NEWEST} AS newest FROM daybook_outbox
    WHERE id < ${NEWEST} AND id > ${NEWEST} - ${MAX_NESTED} AND type IN (${types.map(literal).join(', ')})
      AND ${isNext}
    ORDER BY id DESC LIMIT 1
  )
  WHERE id >= next AND id < newest;`

/** The state before a change, as the newest event has it after its change. */
const NEXT_STATE = `(
        SELECT '${BEFORE}' || substr(
          substr(attributes, 1, length(attributes) - 1),
          nullif(instr(attributes, '${AFTER}'), 0) + ${AFTER.length}
        )
        FROM daybook_outbox ORDER BY id DESC LIMIT 1
      )`

/** SQL for the rows that the triggers of one table write. */
interface EventSql {
  /** The beginning of the attributes, which identifies the row. */
  readonly identity: (row: Row) => string
  readonly states: Readonly<Record<CapturedAction, string>>
  /** The bytes of the values in the states. */
  readonly sizes: Readonly<Record<CapturedAction, string>>
  readonly previousKey: string
}

function eventSql(plan: CapturePlan, { state, key, size, differ }: RowSql): EventSql {
  const { subject, primaryKey, columns, link = 'primary_key' } = plan
  const nameIfChanged = (column: string): string =>
    `CASE WHEN ${differ('OLD', 'NEW', [column])} THEN ${literal(`,${JSON.stringify(column)}`)} ELSE '' END`
  const changed = [`',"changed":['`, `substr(${joined(columns.map(nameIfChanged))}, 2)`, `']'`]
  const before = [`'${BEFORE}'`, state('OLD')]
  const after = [`'${AFTER}'`, state('NEW')]
  return {
    identity: (row) =>
      joined([
        literal(`${CAPTURED}{"table":${JSON.stringify(subject)},${JSON.stringify(link)}:`),
        key(row),
      ]),
    states: {
      create: joined(after),
      update: joined([...changed, ...before, ...after]),
      destroy: joined(before),
    },
    sizes: {
      create: size('NEW'),
      update: joined([size('OLD'), size('NEW')], '+'),
      destroy: size('OLD'),
    },
    previousKey: `CASE WHEN ${differ('OLD', 'NEW', primaryKey)}
      THEN ${literal(`,${JSON.stringify(previousName(link))}:`)} || ${key('OLD')} ELSE '' END`,
  }
}

/**
 * SQL for the triggers of one table, by their names, which are unique in a database. `readCaptured` reads what they
 * write. For each action one trigger writes the event; triggers of a table run in the reverse of the order in which
 * they were created. If a newer trigger of the host, or a cascade, has changed the row again before, its events came
 * first. An older trigger of ours, which runs afterwards, finds that the table does not have the row as the change
 * has left it, and puts them behind.
 */
export function captureTriggers(plan: CapturePlan, form: TableForm): ReadonlyMap<string, string> {
  const { name, subject, columns } = plan
  const rows = rowSql(plan, form.untyped)
  const { identity, states, sizes, previousKey } = eventSql(plan, rows)
  const isChange = rows.differ('OLD', 'NEW', columns)

  const hasRow = (row: Row, place: readonly string[], isSame = '1'): string => {
    const isIts = place.map((column) => `its.${quoteName(column)} = ${row}.${quoteName(column)}`)
    return `EXISTS (SELECT 1 FROM ${quoteName(name)} AS its WHERE ${isIts.join(' AND ')} AND ${isSame})`
  }
  // A row that is inserted again has another rowid.
  const key = form.primaryKey.length > 0 ? form.primaryKey : form.place
  const isUnchanged = hasRow('NEW', form.place, `NOT (${rows.differ('its', 'NEW', columns)})`)
  const isOutOfOrder = {
    create: `NOT ${isUnchanged}`,
    update: `(${isChange}) AND NOT ${isUnchanged}`,
    destroy: hasRow('OLD', key),
  }
  const [create, update, destroy] = CAPTURED_ACTIONS.map((action) => captureType(subject, action))
  const followsState = orderSql([update!, destroy!], `instr(attributes, ${NEXT_STATE}) > 0`)
  const order = {
    create: followsState,
    update: followsState,
    destroy: orderSql([create!], `instr(attributes, (SELECT ${identity('OLD')} || ',')) = 1`),
  }

  const trigger = (
    kind: string,
    action: CapturedAction,
    condition: string | undefined,
    body: string,
  ): [string, string] => {
    const triggerName = `${PREFIX}${kind}${action}_${name}`
    const when = condition === undefined ? '' : ` WHEN ${condition}`
    return [
      triggerName,
      `CREATE TRIGGER ${quoteName(triggerName)} AFTER ${ACTIONS[action]} ON ${quoteName(name)}${when}\nBEGIN${body}\nEND`,
    ]
  }
  const bounded = (action: CapturedAction): string =>
    columns.length > MANY_COLUMNS
      ? `CASE WHEN ${sizes[action]} <= ${MAX_CAPTURED_BYTES} THEN ${states[action]} END`
      : states[action]
  const insert = (action: CapturedAction, row: Row): string => `
  INSERT INTO daybook_outbox (suffix, type, username, source, system, attributes, recorded_at)
  SELECT
    hex(randomblob(8)),
    ${literal(captureType(subject, action))},
    (SELECT username FROM daybook_actor ORDER BY rowid DESC LIMIT 1),
    ${sourceSql(plan, row)},
    1,
    ${joined([
      identity(row),
      ...(action === 'update' ? [previousKey] : []),
      `coalesce((SELECT ', "actor":' || attributes FROM daybook_actor ORDER BY rowid DESC LIMIT 1), '')`,
      `CASE WHEN length(CAST(states AS BLOB)) <= ${MAX_CAPTURED_BYTES} THEN states
      ELSE ',"cut":' || coalesce(length(CAST(states AS BLOB)), ${sizes[action]}) END`,
      `'}'`,
    ])},
    CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)
  FROM (SELECT ${bounded(action)} AS states);`

  return new Map([
    ...(form.place.length === 0
      ? []
      : CAPTURED_ACTIONS.map((action) =>
          trigger('order_', action, isOutOfOrder[action], order[action]),
        )),
    ...CAPTURED_ACTIONS.map((action) =>
      trigger(
        '',
        action,
        action === 'update' ? isChange : undefined,
        insert(action, action === 'destroy' ? 'OLD' : 'NEW'),
      ),
    ),
  ])
}

/** SQL for the triggers of captured tables, with their tables; `_` is a wildcard in LIKE. */
export const FIND_TRIGGERS = `SELECT name, tbl_name AS "table", sql FROM main.sqlite_schema
  WHERE type = 'trigger' AND substr(name, 1, ${PREFIX.length}) = '${PREFIX}'`
