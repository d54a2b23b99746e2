import { REDACTED } from '../../../src/event/secrets.js'
import {
  ACTOR_ATTRIBUTES,
  type CapturePlan,
  captureType,
  MAX_CAPTURED_BYTES,
} from '../../../src/store-kit/capture.js'
import { quoteName } from '../../../src/store-kit/sql.js'

/*
 * Triggers that put the changed rows of a table into the outbox. The JSON is put together as text: an SQLite
 * function takes at most 127 arguments, and `json_object` refuses blobs.
 */

/** The actor of captured changes: only within a transaction, and only while `captureAs` runs. */
export const ACTOR_TABLE = `CREATE TABLE main.daybook_actor (username TEXT, attributes TEXT) STRICT`

const ACTIONS = { create: 'INSERT', update: 'UPDATE', destroy: 'DELETE' } as const

export type CapturedAction = keyof typeof ACTIONS

export const CAPTURED_ACTIONS = Object.keys(ACTIONS) as readonly CapturedAction[]

const PREFIX = 'daybook_capture_'

/** The name of a trigger; names of triggers are unique in a database. */
export const triggerName = (table: string, action: CapturedAction): string =>
  `${PREFIX}${action}_${table}`

/** A literal; SQLite reads U+0000 as the end of a statement. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A literal of JSON text. */
const json = (value: unknown): string => literal(JSON.stringify(value))

/** Joins texts by `||`, nested no deeper than necessary: SQLite limits the depth of expressions to 1000. */
function joined(parts: readonly string[]): string {
  if (parts.length === 1) return parts[0]!
  const half = parts.length >> 1
  return `(${joined(parts.slice(0, half))} || ${joined(parts.slice(half))})`
}

// Larger integers would lose digits when they are read as doubles.
const MAX_INTEGER = Number.MAX_SAFE_INTEGER

/** The JSON text of a value. A value that JSON cannot express becomes text, and bytes become their number. */
const valueSql = (value: string): string => `CASE typeof(${value})
  WHEN 'blob' THEN '{"bytes":' || length(${value}) || '}'
  WHEN 'integer' THEN CASE WHEN ${value} BETWEEN -${MAX_INTEGER} AND ${MAX_INTEGER} THEN ${value}
    ELSE '"' || ${value} || '"' END
  WHEN 'real' THEN CASE WHEN abs(${value}) < 9e999 THEN json_quote(${value})
    WHEN ${value} > 0 THEN '"Infinity"' ELSE '"-Infinity"' END
  ELSE json_quote(${value}) END`

type Row = 'NEW' | 'OLD'

/** SQL for the triggers of one table. */
export function captureTriggers(plan: CapturePlan): ReadonlyMap<CapturedAction, string> {
  const { name, subject, primaryKey, link, sourcePrefix, columns } = plan
  const secret = new Set(plan.secret)

  const shown = (row: Row, column: string): string => {
    const value = `${row}.${quoteName(column)}`
    return secret.has(column)
      ? `CASE WHEN ${value} IS NULL THEN 'null' ELSE ${json(REDACTED)} END`
      : valueSql(value)
  }
  const object = (row: Row, members: readonly string[]): string =>
    joined([
      `'{'`,
      ...members.flatMap((column, i) => [
        literal(`${i > 0 ? ',' : ''}${JSON.stringify(column)}:`),
        shown(row, column),
      ]),
      `'}'`,
    ])
  // Compared byte by byte, whatever the collation of the column.
  const differs = (column: string): string =>
    `OLD.${quoteName(column)} IS NOT NEW.${quoteName(column)} COLLATE BINARY`
  const pathOf = (column: string): string =>
    `/${column.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const changes = joined(
    columns.map(
      (column) =>
        `CASE WHEN ${differs(column)} THEN ${joined([
          literal(`,{"op":"replace","path":${JSON.stringify(pathOf(column))},"value":`),
          shown('NEW', column),
          `',"old_value":'`,
          shown('OLD', column),
          `'}'`,
        ])} ELSE '' END`,
    ),
  )

  /** JSON text without the closing brace. */
  const attributes = (action: CapturedAction): { readonly whole: string; readonly cut: string } => {
    const row = action === 'destroy' ? 'OLD' : 'NEW'
    const identity = [
      literal(`{"table":${JSON.stringify(subject)},${JSON.stringify(link ?? 'primary_key')}:`),
      link === undefined ? object(row, primaryKey) : shown(row, primaryKey[0]!),
    ]
    const states = [
      ...(action === 'create' ? [] : [`',"before":'`, object('OLD', columns)]),
      ...(action === 'destroy' ? [] : [`',"after":'`, object('NEW', columns)]),
      ...(action === 'update' ? [`',"changes":['`, `substr(${changes}, 2)`, `']'`] : []),
    ]
    return {
      whole: joined([...identity, ...states]),
      cut: joined([
        ...identity,
        `',"recording":{"replaced":["/before","/after"],"cut_bytes":'`,
        'octets',
        `'}'`,
      ]),
    }
  }

  const source = (row: Row): string => {
    if (sourcePrefix === undefined) return 'NULL'
    const id = `lower(${row}.${quoteName(primaryKey[0]!)})`
    const uuid = [8, 4, 4, 4, 12].map((digits) => '[0-9a-f]'.repeat(digits)).join('-')
    return `CASE WHEN ${id} GLOB '${uuid}' THEN ${literal(sourcePrefix)} || ${id} END`
  }

  const ofActor =
    link !== undefined && ACTOR_ATTRIBUTES.includes(link)
      ? `nullif(json_remove(attributes, '$.${link}'), '{}')`
      : 'attributes'

  const trigger = (action: CapturedAction): string => {
    const { whole, cut } = attributes(action)
    const condition = action === 'update' ? `WHEN ${columns.map(differs).join(' OR ')}` : ''
    return `CREATE TRIGGER ${quoteName(triggerName(name, action))}
AFTER ${ACTIONS[action]} ON ${quoteName(name)} ${condition}
BEGIN
  INSERT INTO daybook_outbox (suffix, type, username, source, system, attributes, recorded_at)
  SELECT
    substr('89ab', 1 + (random() & 3), 1) || substr(lower(hex(randomblob(8))), 2),
    ${literal(captureType(subject, action))},
    (SELECT username FROM daybook_actor ORDER BY rowid DESC LIMIT 1),
    ${source(action === 'destroy' ? 'OLD' : 'NEW')},
    1,
    CASE WHEN octets > ${MAX_CAPTURED_BYTES} THEN ${cut} ELSE captured END || coalesce(
      (SELECT ',' || substr(${ofActor}, 2) FROM daybook_actor ORDER BY rowid DESC LIMIT 1), '}'
    ),
    CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)
  FROM (SELECT captured, length(CAST(captured AS BLOB)) AS octets FROM (SELECT ${whole} AS captured));
END`
  }
  return new Map(CAPTURED_ACTIONS.map((action) => [action, trigger(action)]))
}

/** SQL for the triggers of captured tables, with their tables; `_` is a wildcard in LIKE. */
export const FIND_TRIGGERS = `SELECT name, tbl_name AS "table", sql FROM main.sqlite_schema
  WHERE type = 'trigger' AND substr(name, 1, ${PREFIX.length}) = '${PREFIX}'`
