import Database from 'better-sqlite3'
import { type AttributeTypes, type ListTable, parseQuery, type QueryObject } from 'daybook'
import { postgresTable } from 'daybook/postgres'
import { sqliteTable } from 'daybook/sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { declaredAttributes } from '../../src/filter/declared.js'
import { selectItems } from '../../src/lists/list-source.js'
import { formatTimestamp } from '../../src/event/timestamp.js'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { PREDICATES } from './arbitraries.js'
import { words } from '../support/words.js'

/*
 * Random queries over random rows: an array, an SQLite table and a Postgres table must give the same
 * items in the same order.
 */

const types = {
  t: 'string',
  u: 'string',
  n: 'number',
  f: 'number',
  b: 'boolean',
  at: 'timestamp',
} as const satisfies AttributeTypes
const attributes = declaredAttributes(types)

type Item = Readonly<Record<string, unknown>>

const TEXTS = [
  ...['alpha', 'Alpha', 'ALPHA', 'beta', 'beta alpha', '', ' ', '7', '007', 'true', '100%', 'a_b'],
  ...['axb', 'c:\\temp', 'Kelvin', '\u212Aelvin', 'Σίσυφος', 'ΣΊΣΥΦΟΣ', 'İx', 'Straße', 'é', 'É'],
  ...[
    '😀 up',
    '\uE000',
    `it's "x"; --`,
    'one\ntwo',
    ...words('[a] x*y a?b ^ ] (a|b)+ {2} $1.0 ***=x'),
    '\\d',
  ],
]
const NUMBERS = [0, 1, 7, 10, -2.5, 0.1, 1000, 1e21, 9_007_199_254_740_991, 123_456_789.125]
const START = 1_767_225_600_000_000
const times = Array.from({ length: 8 }, (_, i) => START + i * 1_000_001)

const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(value, { freq: 5, nil: null })

const item: fc.Arbitrary<Item> = fc.record({
  t: orNull(fc.constantFrom(...TEXTS)),
  u: orNull(fc.constantFrom(...TEXTS)),
  n: orNull(fc.constantFrom(...NUMBERS)),
  // Exact in a `real` column of Postgres, which stores seven digits.
  f: orNull(fc.constantFrom(0, 0.1, -2.5, 123_456_790, 16_777_216, 3e9)),
  b: orNull(fc.boolean()),
  at: orNull(fc.constantFrom(...times.map(formatTimestamp))),
})
const items = fc
  .array(item, { minLength: 15, maxLength: 30, size: 'max' })
  .map((rows) => rows.map((row, i) => ({ id: `r${String(i).padStart(2, '0')}`, ...row })))

const FILTER_VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  t: fc.constantFrom(...TEXTS.filter((text) => text.trim() !== ''), '7.0', '\0', '\uD800'),
  n: fc.constantFrom(...NUMBERS.map(String), '007', '+7', '1e3', '-2.50', '.1', '1e400'),
  f: fc.constantFrom('0.1', '-2.5', '123456790', '123456792', '16777217', '3e9', '1'),
  b: fc.constantFrom('1', '0', 't', 'FALSE', 'true', 'F'),
  at: fc.constantFrom(...times.map(formatTimestamp), '2026-01-01', '20260101T000003Z'),
  id: fc.constantFrom('r00', 'r03', 'R03', 'r11', 'none'),
}
const PARTS = fc.constantFrom(
  ...[
    'a',
    'AL',
    'PHA',
    'k',
    '\u212A',
    'σ',
    'ς',
    '%',
    '_',
    '\\',
    'ß',
    'ss',
    '😀',
    ' ',
    '0',
    'İ',
    'É',
  ],
  ...['"', '[', ']', '*', '?', '^', '\n', 'r0', '2026', ':', '7'],
  ...[...words('( ) { } {2} | + $ . - / # ~ &'), '\\d', '\\m', '(?i)', '***='],
)
const PATTERNS = fc.constantFrom(
  ...['a%', '%A', '%ph%', '_____', '%', '100\\%', 'a\\_b', 'a_b', 'k%', '%σ', 'σ%Σ', '_ up', '%\\'],
  ...['%[%', '%_%', '%*%', 'a?b', '[^a]', '%é'],
)

const isFlag = (predicate: string): boolean => /(?:true|false|null|present|blank)$/.test(predicate)
const isList = (predicate: string): boolean => /(?:^in|^not_in|_any|_all)$/.test(predicate)

function valueOf(name: string, predicate: string): fc.Arbitrary<string> {
  if (isFlag(predicate)) return fc.constantFrom('1', '1', '0')
  if (/match/.test(predicate)) return PATTERNS
  if (/cont|start|end/.test(predicate)) return PARTS
  return FILTER_VALUES[name === 'u' ? 't' : name]!
}

const criterion = fc
  .tuple(fc.constantFrom('t', 't', 'u', 'n', 'f', 'b', 'at', 'id'), fc.constantFrom(...PREDICATES))
  .chain(([name, predicate]) => {
    const value = valueOf(name, predicate)
    const given: fc.Arbitrary<string | string[]> = isList(predicate)
      ? fc.array(value, { minLength: 1, maxLength: 4 })
      : value
    return given.map((value) => [`${name}_${predicate}`, value] as const)
  })

const both = fc
  .tuple(fc.constantFrom('t_or_u', 't_and_u'), fc.constantFrom('eq', 'cont', 'not_eq', 'lt'))
  .chain(([name, predicate]) =>
    valueOf('t', predicate).map((value) => [`${name}_${predicate}`, value] as const),
  )

const grouping = fc
  .tuple(
    fc.constantFrom('and', 'or'),
    fc.array(fc.oneof({ weight: 5, arbitrary: criterion }, { weight: 1, arbitrary: both }), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([m, members]) => ({ m, ...Object.fromEntries(members) }))

const sorts = fc.array(
  fc
    .tuple(fc.constantFrom('t', 'u', 'n', 'f', 'b', 'at', 'id'), fc.constantFrom('', ' desc'))
    .map((parts) => parts.join('')),
  { maxLength: 2 },
)

const query: fc.Arbitrary<QueryObject> = fc.oneof(
  { weight: 3, arbitrary: criterion.map((entry) => ({ filter: Object.fromEntries([entry]) })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(grouping, fc.array(grouping, { maxLength: 2 }), sorts, fc.integer({ min: 1, max: 40 }))
      .map(([filter, g, sorts, limit]) => ({ filter: { ...filter, g, sorts }, limit })),
  },
)

/** Values that any SQLite column can hold, as the driver returns them. */
const anything = fc.oneof(
  { weight: 3, arbitrary: orNull(fc.constantFrom(...TEXTS, 'A\0b', '2026-01-01', ' 7 ')) },
  { weight: 2, arbitrary: fc.constantFrom(0, 1, 7, -2.5, 1e21, 1_767_225_601_000) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 7n, 9_007_199_254_740_993n, 1_767_225_602_000n) },
)
const oddItems = fc
  .array(
    fc.record({ t: anything, u: anything, n: anything, f: anything, b: anything, at: anything }),
    {
      minLength: 15,
      maxLength: 30,
      size: 'max',
    },
  )
  .map((rows) => rows.map((row, i) => ({ id: `r${String(i).padStart(2, '0')}`, ...row })))

describe('lists', () => {
  let postgres: TestDatabase
  beforeAll(async () => {
    postgres = await postgresDatabase()
  })
  afterAll(() => postgres.remove())

  const sqliteRows = (rows: readonly Item[]): Database.Database => {
    const database = new Database(':memory:')
    database.exec(`CREATE TABLE items (id TEXT PRIMARY KEY, t TEXT, u VARCHAR COLLATE NOCASE, n NUMERIC,
      f REAL, b BOOLEAN, at TEXT)`)
    const insert = database.prepare('INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)')
    for (const { id, t, u, n, f, b, at } of rows)
      insert.run(id, t, u, n, f, b === null ? null : Number(b), at)
    return database
  }

  const postgresRows = async (rows: readonly Item[]): Promise<void> => {
    await postgres.pool
      .query(`DROP TABLE IF EXISTS items; CREATE TABLE items (id varchar PRIMARY KEY,
      t text, u text, n numeric, f real, b boolean, at timestamptz)`)
    await postgres.pool.query(
      'INSERT INTO items SELECT * FROM json_populate_recordset(NULL::items, $1)',
      [JSON.stringify(rows)],
    )
  }

  it('return the same items from an array, SQLite and Postgres, and SQL filters most rows', async () => {
    let queried = 0
    let selective = 0
    let selected = 0
    let matching = 0

    const check = async (
      rows: readonly Item[],
      table: ListTable<Item>,
      queryObject: QueryObject,
    ): Promise<void> => {
      const query = parseQuery(queryObject, { attributes: types, maxLimit: Infinity })
      const select = async (source: Iterable<Item> | AsyncIterable<Item>): Promise<unknown> => {
        const { items, truncated } = await selectItems(source, attributes, query)
        return { ids: items.map(({ id }) => id), truncated }
      }
      expect(await select(table.rows(query, types)), JSON.stringify(queryObject)).toEqual(
        await select(rows),
      )
      const all = await selectItems(rows, attributes, { ...query, limit: Infinity })
      for await (const _ of table.rows(query, types)) selected++
      matching += all.items.length
      queried++
      if (all.items.length > 0 && all.items.length < rows.length) selective++
    }

    await fc.assert(
      fc.asyncProperty(
        items,
        fc.array(query, { minLength: 40, maxLength: 40, size: 'max' }),
        async (rows, queries) => {
          const database = sqliteRows(rows)
          await postgresRows(rows)
          const tables = [
            sqliteTable({ database, table: 'items' }),
            postgresTable({ pool: postgres.pool, table: 'items' }),
          ]
          for (const table of tables) for (const given of queries) await check(rows, table, given)
          database.close()
        },
      ),
      { numRuns: 8, endOnFailure: true },
    )
    expect(
      selective / queried,
      `${selective} of ${queried} pages have some items but not all`,
    ).toBeGreaterThan(1 / 4)
    const rejected = 1 - matching / selected
    expect(rejected, `${matching} of ${selected} selected rows match`).toBeLessThan(1 / 3)
  })

  it('return the same items from SQLite for any column values', async () => {
    await fc.assert(
      fc.asyncProperty(
        oddItems,
        fc.array(query, { minLength: 60, maxLength: 60, size: 'max' }),
        async (rows, queries) => {
          const database = new Database(':memory:')
          database.exec(
            'CREATE TABLE items (id TEXT PRIMARY KEY, t, u TEXT, n, f REAL, b, at INTEGER)',
          )
          const insert = database.prepare('INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)')
          for (const row of rows) insert.run(...Object.values(row))
          const stored = database
            .prepare('SELECT * FROM items ORDER BY id')
            .safeIntegers(true)
            .all()
          const table = sqliteTable({ database, table: 'items' })
          for (const given of queries) {
            const parsed = parseQuery(given, { attributes: types, maxLimit: Infinity })
            const expected = await selectItems(stored as Item[], attributes, parsed)
            const found = await selectItems(table.rows(parsed, types), attributes, parsed)
            expect(found, JSON.stringify(given)).toEqual(expected)
          }
          database.close()
        },
      ),
      { numRuns: 8, endOnFailure: true },
    )
  })
})
