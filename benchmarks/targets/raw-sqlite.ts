import Database from 'better-sqlite3'
import { type Dialect, isOwnField, toSql } from '../harness/query.js'
import { pageOf, type QueryTarget } from '../harness/query-target.js'
import type { SampleEvent } from '../harness/sample-events.js'

/* Handwritten SQLite: one row of JSON text per event, as durable as the store. */

export function openRaw(filename: string): Database.Database {
  const database = new Database(filename)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.pragma('cache_size = -32768')
  database.exec(
    `CREATE TABLE IF NOT EXISTS raw
       (created_at INTEGER PRIMARY KEY, type TEXT, username TEXT, j TEXT) STRICT`,
  )
  return database
}

/** Whether the JSON text of a row is made before the measurement, or in it. */
export type JsonTime = 'before' | 'inside'

/**
 * Returns a function that inserts the rows `from` to `to` in one transaction. `createdAt` gives the time of a row in
 * microseconds.
 */
export function prepareInserts(
  database: Database.Database,
  events: readonly SampleEvent[],
  createdAt: (row: number) => number,
  json: JsonTime = 'before',
): (from: number, to: number) => void {
  const insert = database.prepare('INSERT INTO raw VALUES (?, ?, ?, ?)')
  const texts = json === 'before' ? events.map(({ data }) => JSON.stringify(data)) : undefined
  const insertRows = database.transaction((from: number, to: number) => {
    for (let row = from; row < to; row++) {
      const at = row % events.length
      const { type, username, data } = events[at]!
      insert.run(createdAt(row), type, username, texts?.[at] ?? JSON.stringify(data))
    }
  })
  return (from, to) => insertRows.immediate(from, to)
}

const jsonField = (path: readonly string[]): string => `json_extract(j, '$.${path.join('.')}')`

const SQLITE: Dialect = {
  field: jsonField,
  number: jsonField,
  placeholder: () => '?',
  isNot: 'IS NOT',
  like: 'LIKE',
}

const indexName = (path: readonly string[]): string => `raw_by_${path.join('_')}`

/** Adds the index that finds values of this attribute, newest first. */
export function makeIdealIndex(database: Database.Database, path: readonly string[]): void {
  const [first] = path
  const column = first === 'type' || first === 'username' ? first : jsonField(path)
  database.exec(`CREATE INDEX IF NOT EXISTS ${indexName(path)} ON raw (${column}, created_at)`)
}

interface Row {
  readonly j: string
}

const parse = (json: string): Record<string, unknown> => JSON.parse(json) as Record<string, unknown>

export function openRawTarget(filename: string): QueryTarget {
  const database = openRaw(filename)
  return {
    prepare(query, ideal) {
      const { condition, order, values } = toSql(query, SQLITE)
      const isByTime = ideal && isOwnField(ideal) && ideal[0] === 'created_at'
      const index = ideal && !isByTime ? `INDEXED BY ${indexName(ideal)}` : 'NOT INDEXED'
      const statement = database.prepare(
        `SELECT created_at, type, username, j FROM raw ${index}
         WHERE ${condition} ORDER BY ${order} LIMIT ${query.limit + 1}`,
      )
      return () => pageOf(statement.all(...values) as Row[], query, ({ j }) => parse(j))
    },
    close: () => void database.close(),
  }
}
