import { filterParts, conditionsOf } from '../../../src/store-kit/counting/own-conditions.js'
import type { CountsQuery } from '../../../src/store/counts.js'
import type { Figure, Tally } from '../../../src/store-kit/counting/tally.js'
import type { Grouping } from '../../../src/filter/ast.js'
import { compileFilter } from '../../../src/filter/evaluate.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import { isStorableText } from '../../../src/event/json-copy.js'
import { isOwnField, type OwnField } from '../../../src/event/own-fields.js'
import type { TextRow } from '../connection/client.js'
import { splitFilter } from './pushdown-exact.js'
import { narrowEvents } from './pushdown-event.js'
import { EVENT_COLUMNS, rowToEvent } from '../schema/rows.js'
import { allOf } from './sql.js'

/*
 * Each figure has a statement of its own, which makes one row of all events that are alike in what the
 * figure looks at. The row is an event that has these values and no others, so that predicates and
 * the tally can be asked about it as about any of them: what they mean is told once, for all stores.
 * Where the filter looks at attributes, which takes longer than all else, one statement serves all.
 */

/** How some figures of a count are asked for. */
export interface CountStatement {
  /** What rows must be; `undefined` for all. */
  readonly filter: Sql | undefined
  /** Given rows of events that also have their `cell`: events that are alike, with their number. */
  select(rows: Sql): Sql
  /** Counts what a row that it gave stands for. */
  take(row: TextRow): void
}

type Column = 'created_at' | 'suffix' | 'type' | 'username' | 'system'

const COLUMNS: readonly Column[] = ['created_at', 'suffix', 'type', 'username', 'system']

const COLUMNS_OF: Readonly<Record<OwnField, readonly Column[]>> = {
  id: ['created_at', 'suffix'],
  created_at: ['created_at'],
  type: ['type'],
  username: ['username'],
  system: ['system'],
}

/** In place of a column that is not looked at. */
const NOTHING: Readonly<Record<Column, string>> = {
  created_at: '0',
  suffix: `''`,
  type: `''`,
  username: 'NULL',
  system: 'FALSE',
}

/** The value of one event of several. */
const ANY_ONE: Readonly<Record<Column, string>> = {
  created_at: 'min(created_at)',
  suffix: 'min(suffix)',
  type: 'min(type)',
  username: 'min(username)',
  system: 'bool_and(system)',
}

// To look for more members takes as long as to read the whole.
const MAX_MEMBERS = 4

/** The top-level members through which a name can lead. */
function membersOf(name: string): string[] {
  const parts = name.split('_')
  return parts.map((_, i) => parts.slice(0, i + 1).join('_')).filter(isStorableText)
}

// To find that a key stands nowhere in the text is faster than to read the JSON. As JSON.stringify has
// written it, it has no other spelling.
const MEMBER = `?::text, CASE WHEN strpos(attributes::text COLLATE "C", ?::text) > 0 THEN attributes -> ?::text END`

/** JSON of no more of the attributes than the names lead to. */
function attributesOf(names: readonly string[]): Sql {
  const members = [...new Set(names.flatMap(membersOf))]
  if (members.length === 0) return sql(`'{}'`)
  if (members.length > MAX_MEMBERS) return sql('attributes::text')
  return sql(
    `json_build_object(${members.map(() => MEMBER).join()})::text`,
    ...members.flatMap((member) => [member, `${JSON.stringify(member)}:`, member]),
  )
}

/** What a statement looks at. */
interface Look {
  readonly filter: readonly (Sql | undefined)[]
  /** Names by whose values events are told apart. */
  readonly keys: ReadonlySet<string>
  /** SQL by whose value they are; of the fields that it is made of any event's will do. */
  readonly tests: readonly Sql[]
  readonly tested: ReadonlySet<OwnField>
}

const NOWHERE: Look = { filter: [], keys: new Set(), tests: [], tested: new Set() }

const isTrue = ({ text, params }: Sql): Sql => sql(`(${text}) IS TRUE`, ...params)

/** `EVENT_COLUMNS`, cell and number of the events that are alike to the look; by cell, if need be. */
function selectAlike({ keys, tests, tested }: Look, byCell: boolean, rows: Sql): Sql {
  const keyColumns = new Set([...keys].filter(isOwnField).flatMap((name) => COLUMNS_OF[name]))
  const testedColumns = new Set([...tested].flatMap((name) => COLUMNS_OF[name]))
  const attributes = attributesOf([...keys].filter((name) => !isOwnField(name)))
  const expression = (column: Column): string => {
    if (keyColumns.has(column)) return column
    return (testedColumns.has(column) ? ANY_ONE : NOTHING)[column]
  }
  const [created_at, suffix, type, username, system] = COLUMNS.map(expression)
  const cell = byCell ? 'cell' : '0'
  const groups = ['7, 8', ...keyColumns, ...tests.map(({ text }) => text)]
  return sql(
    `SELECT ${created_at}, ${suffix}, ${type}, ${username}, NULL, ${system}, ${attributes.text}, ${cell}, count(*)
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

/** Where the filter is no part of what the look tells apart: rows pass it, as far as SQL can tell. */
function filteredBy(where: Grouping | undefined, foreignIds: string): Look {
  const { exact, rest } = splitFilter(where)
  return {
    filter: [exact, narrowEvents(rest, foreignIds)],
    keys: new Set(namesIn(rest)),
    tests: [],
    tested: new Set(exact ? namesIn(where).filter(isOwnField) : []),
  }
}

/** Where rows that pass the filter and others are to be told apart. */
function toldApartBy(where: Grouping): Look {
  const { exact, rest } = splitFilter(where)
  const names = namesIn(where)
  return exact && !rest
    ? { ...NOWHERE, tests: [isTrue(exact)], tested: new Set(names.filter(isOwnField)) }
    : { ...NOWHERE, keys: new Set(names) }
}

const bothOf = (looks: readonly Look[]): Look => ({
  filter: looks.flatMap(({ filter }) => filter),
  keys: new Set(looks.flatMap(({ keys }) => [...keys])),
  tests: looks.flatMap(({ tests }) => tests),
  tested: new Set(looks.flatMap(({ tested }) => [...tested])),
})

function filterOf({ filter }: Look): Sql | undefined {
  return filter.some((part) => part !== undefined) ? allOf(...filter) : undefined
}

const lookAt = (name: string): Look => ({ ...NOWHERE, keys: new Set([name]) })

/** The first part of a type with its colon, by which levels go. */
const LEVELS: Look = {
  ...NOWHERE,
  tests: [sql(`left(type, strpos(type, ':'))`)],
  tested: new Set(['type']),
}

/** The statements that together ask for all that is to be counted. */
export function countStatements(
  query: CountsQuery,
  tally: Tally,
  foreignIds: string,
): CountStatement[] {
  const { own } = filterParts(query)
  const { exact, rest } = splitFilter(tally.shared)
  const shared: Look = {
    ...NOWHERE,
    filter: [exact, narrowEvents(rest, foreignIds)],
    keys: new Set(namesIn(rest)),
  }
  const matches = compileFilter(rest)
  const facets = query.facets.filter((facet) => facet !== 'level')
  const levels = bothOf([shared, LEVELS, ...Array.from(own.values(), toldApartBy)])

  const take =
    (figure?: Figure) =>
    (row: TextRow): void => {
      const event = rowToEvent(row)
      if (matches(event)) tally.add(Number(row[7]), event, Number(row[8]), figure)
    }

  const alike = (looks: readonly Look[], byCell: boolean, figure?: Figure): CountStatement => {
    const look = bothOf(looks)
    return {
      filter: filterOf(look),
      select: (rows) => selectAlike(look, byCell, rows),
      take: take(figure),
    }
  }

  const eachRow = (looks: readonly Look[], figure?: Figure): CountStatement => ({
    filter: filterOf(bothOf(looks)),
    select: ({ text, params }) => sql(`SELECT ${EVENT_COLUMNS}, cell, 1 FROM ${text}`, ...params),
    take: take(figure),
  })

  if (rest)
    return [query.attributes ? eachRow([shared]) : alike([levels, ...facets.map(lookAt)], true)]

  const withoutOwn = (facet?: string): Look[] =>
    Array.from(own)
      .filter(([name]) => name !== facet)
      .map(([, where]) => filteredBy(where, foreignIds))

  return [
    alike([levels], true, 'levels'),
    ...facets.map((facet) =>
      alike([shared, lookAt(facet), ...withoutOwn(facet)], false, { facet }),
    ),
    ...(query.attributes ? [eachRow([shared, ...withoutOwn()], 'attributes')] : []),
  ]
}
