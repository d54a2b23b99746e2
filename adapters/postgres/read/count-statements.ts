import { filterParts, conditionsOf } from '../../../src/store-kit/counting/own-conditions.js'
import type { CountsQuery } from '../../../src/store/counts.js'
import type { Figure, Tally } from '../../../src/store-kit/counting/tally.js'
import type { Grouping } from '../../../src/filter/ast.js'
import { compileFilterInSteps } from '../../../src/filter/evaluate.js'
import { type Decision, thenDecided } from '../../../src/filter/steps.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import { isStorableText } from '../../../src/event/json-copy.js'
import { ANY_TEXT, isOwnField, type OwnField, SOURCE } from '../../../src/event/own-fields.js'
import type { TextRow } from '../connection/client.js'
import { splitFilter } from './pushdown-exact.js'
import { pushDownEvents } from './pushdown-event.js'
import { type CheckRows, EVENT_COLUMNS, rowToEvent } from '../schema/rows.js'
import { allOf } from './sql.js'

/*
 * Each figure has its own statement, which groups the events by the values that the figure reads. A
 * row stands for its group: it is read as an event with these values, so that the predicates and the
 * tally that all stores share apply to it. If the filter reads attributes, which is the most expensive
 * part, one statement serves all figures.
 */

/** A statement for one or more figures. */
export interface CountStatement {
  /** The figure that it counts; `undefined` for all figures. */
  readonly figure: Figure | undefined
  /** The SQL filter of the rows; `undefined` for all rows. */
  readonly filter: Sql | undefined
  /** Groups rows of events that have a `cell`, and counts each group. */
  select(rows: Sql): Sql
  /** Adds a row of the result to the tally: true or false, or the work that does. */
  take(row: TextRow): Decision
}

/** The columns of {@link EVENT_COLUMNS} but the attributes, in their order. */
const COLUMNS = ['created_at', 'suffix', 'type', 'username', 'source', 'system'] as const

type Column = (typeof COLUMNS)[number]

/** Names of queries that have columns. */
type ColumnName = OwnField | typeof SOURCE

const hasColumn = (name: string): name is ColumnName => isOwnField(name) || name === SOURCE

const COLUMNS_OF: Readonly<Record<ColumnName, readonly Column[]>> = {
  id: ['created_at', 'suffix'],
  created_at: ['created_at'],
  type: ['type'],
  username: ['username'],
  source: ['source'],
  system: ['system'],
}

/** The columns with values of the name. */
const columnsOf = (name: string): readonly Column[] => {
  if (name === ANY_TEXT) return COLUMNS
  return hasColumn(name) ? COLUMNS_OF[name] : []
}

/** The value of a column that is not read. */
const NOTHING: Readonly<Record<Column, string>> = {
  created_at: '0',
  suffix: `''`,
  type: `''`,
  username: 'NULL',
  source: 'NULL',
  system: 'FALSE',
}

/** The value of any one event of a group. */
const ANY_ONE: Readonly<Record<Column, string>> = {
  created_at: 'min(created_at)',
  suffix: 'min(suffix)',
  type: 'min(type)',
  username: 'min(username)',
  source: 'min(source)',
  system: 'bool_and(system)',
}

// Extracting more members takes as long as reading all attributes.
const MAX_MEMBERS = 4

/** The top-level members through which a name can lead. */
function membersOf(name: string): string[] {
  const parts = name.split('_')
  return parts.map((_, i) => parts.slice(0, i + 1).join('_')).filter(isStorableText)
}

// A search for the key in the text is faster than parsing the JSON. JSON.stringify wrote the key, so it
// has one spelling.
const MEMBER = `?::text, CASE WHEN strpos(attributes::text COLLATE "C", ?::text) > 0 THEN attributes -> ?::text END`

/** JSON of the members of the attributes that the names can lead to. */
function attributesOf(names: readonly string[]): Sql {
  if (names.includes(ANY_TEXT)) return sql('attributes::text')
  const members = [...new Set(names.flatMap(membersOf))]
  if (members.length === 0) return sql(`'{}'`)
  if (members.length > MAX_MEMBERS) return sql('attributes::text')
  return sql(
    `json_build_object(${members.map(() => MEMBER).join()})::text`,
    ...members.flatMap((member) => [member, `${JSON.stringify(member)}:`, member]),
  )
}

/** Rows and attributes that a statement reads. */
interface Reading {
  readonly filter: readonly (Sql | undefined)[]
  /** Names whose values events are grouped by. */
  readonly keys: ReadonlySet<string>
  /** SQL expressions that events are grouped by; any event of a group has their fields. */
  readonly tests: readonly Sql[]
  readonly tested: ReadonlySet<OwnField>
}

const NO_READING: Reading = { filter: [], keys: new Set(), tests: [], tested: new Set() }

const isTrue = ({ text, params }: Sql): Sql => sql(`(${text}) IS TRUE`, ...params)

/** `EVENT_COLUMNS`, cell and size of each group; groups are within a cell if `byCell` is set. */
function selectGroups({ keys, tests, tested }: Reading, byCell: boolean, rows: Sql): Sql {
  const keyColumns = new Set([...keys].flatMap(columnsOf))
  const testedColumns = new Set([...tested].flatMap((name) => COLUMNS_OF[name]))
  const attributes = attributesOf([...keys].filter((name) => !isOwnField(name)))
  const expression = (column: Column): string => {
    if (keyColumns.has(column)) return column
    return (testedColumns.has(column) ? ANY_ONE : NOTHING)[column]
  }
  const cell = byCell ? 'cell' : '0'
  const groups = ['7, 8', ...keyColumns, ...tests.map(({ text }) => text)]
  return sql(
    `SELECT ${COLUMNS.map(expression).join(', ')}, ${attributes.text}, ${cell}, count(*)
     FROM ${rows.text} GROUP BY ${groups.join()}`,
    ...attributes.params,
    ...rows.params,
    ...tests.flatMap(({ params }) => params),
  )
}

const namesIn = (where: Grouping | undefined): string[] =>
  (where ? conditionsOf(where) : []).flatMap(({ attributes, joinedName }) =>
    joinedName === undefined ? attributes : [...attributes, joinedName],
  )

/** For a figure whose rows must all match: SQL filters, and the groups contain what SQL cannot test. */
function filteredBy(where: Grouping | undefined, foreignIds: string): Reading {
  const { exact, rest } = splitFilter(where)
  return {
    filter: [exact, pushDownEvents(rest, foreignIds)],
    keys: new Set(namesIn(rest)),
    tests: [],
    tested: new Set(exact ? namesIn(where).filter(isOwnField) : []),
  }
}

/** For a figure that needs matching and other rows: groups by whether rows match. */
function groupedBy(where: Grouping): Reading {
  const { exact, rest } = splitFilter(where)
  const names = namesIn(where)
  return exact && !rest
    ? { ...NO_READING, tests: [isTrue(exact)], tested: new Set(names.filter(isOwnField)) }
    : { ...NO_READING, keys: new Set(names) }
}

const bothOf = (readings: readonly Reading[]): Reading => ({
  filter: readings.flatMap(({ filter }) => filter),
  keys: new Set(readings.flatMap(({ keys }) => [...keys])),
  tests: readings.flatMap(({ tests }) => tests),
  tested: new Set(readings.flatMap(({ tested }) => [...tested])),
})

function filterOf({ filter }: Reading): Sql | undefined {
  return filter.some((part) => part !== undefined) ? allOf(...filter) : undefined
}

const readingOf = (name: string): Reading => ({ ...NO_READING, keys: new Set([name]) })

/** The first part of a type with its colon, by which levels go. */
const LEVELS: Reading = {
  ...NO_READING,
  tests: [sql(`left(type, strpos(type, ':'))`)],
  tested: new Set(['type']),
}

export interface StatementOptions {
  readonly foreignIds: string
  /** True if one statement has to serve all figures, which is faster for few events. */
  readonly isSingle: boolean
  /** See `CountContext`. */
  readonly checkParsed?: CheckRows | undefined
}

/** Reads the rows one by one; SQL tests only columns. */
const checkedRows = (
  filter: Sql | undefined,
  check: CheckRows,
  take: CountStatement['take'],
): CountStatement => ({
  figure: undefined,
  filter,
  select: ({ text, params }) =>
    sql(`SELECT ${EVENT_COLUMNS}, cell, 1, checksum FROM ${text}`, ...params),
  take: (row) => check([[...row.slice(0, 7), row[9]!]]).length > 0 && take(row),
})

/** The statements for all figures of the query. */
export function countStatements(
  query: CountsQuery,
  tally: Tally,
  { foreignIds, isSingle, checkParsed }: StatementOptions,
): CountStatement[] {
  const { own } = filterParts(query)
  const { exact, rest } = splitFilter(tally.shared)
  const shared: Reading = {
    ...NO_READING,
    filter: [exact, pushDownEvents(rest, foreignIds)],
    keys: new Set(namesIn(rest)),
  }
  const matches = compileFilterInSteps(rest)
  const facets = query.facets.filter((facet) => facet !== 'level')
  const levels = bothOf([shared, LEVELS, ...Array.from(own.values(), groupedBy)])

  const take =
    (figure?: Figure) =>
    (row: TextRow): Decision => {
      const event = rowToEvent(row)
      return thenDecided(
        matches(event),
        (isMatch) => isMatch && tally.add(Number(row[7]), event, Number(row[8]), figure),
      )
    }

  const grouped = (
    readings: readonly Reading[],
    byCell: boolean,
    figure?: Figure,
  ): CountStatement => {
    const reading = bothOf(readings)
    return {
      figure,
      filter: filterOf(reading),
      select: (rows) => selectGroups(reading, byCell, rows),
      take: take(figure),
    }
  }

  const eachRow = (readings: readonly Reading[], figure?: Figure): CountStatement => ({
    figure,
    filter: filterOf(bothOf(readings)),
    select: ({ text, params }) => sql(`SELECT ${EVENT_COLUMNS}, cell, 1 FROM ${text}`, ...params),
    take: take(figure),
  })

  if (checkParsed) return [checkedRows(exact, checkParsed, take())]
  if (rest || isSingle)
    return [
      query.attributes ? eachRow([shared]) : grouped([levels, ...facets.map(readingOf)], true),
    ]

  const withoutOwn = (facet?: string): Reading[] =>
    Array.from(own)
      .filter(([name]) => name !== facet)
      .map(([, where]) => filteredBy(where, foreignIds))

  return [
    grouped([levels], true, 'levels'),
    ...facets.map((facet) =>
      grouped([shared, readingOf(facet), ...withoutOwn(facet)], false, { facet }),
    ),
    ...(query.attributes ? [eachRow([shared, ...withoutOwn()], 'attributes')] : []),
  ]
}
