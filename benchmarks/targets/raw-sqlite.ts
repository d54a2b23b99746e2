import Database from 'better-sqlite3'
import type { Dialect } from '../harness/query.js'
import type { SampleEvent } from '../harness/sample-events.js'

/* The file that somebody would write by hand: a row of JSON text for each event, as durable as the store's. */

export interface RawEvent {
  readonly createdAt: number
  readonly event: SampleEvent
}

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

type RawRow = readonly [createdAt: number, type: string, username: string, json: string]

/** Gives what puts the rows in when it is called. */
export function insertsOf(
  database: Database.Database,
  events: readonly RawEvent[],
  batch: number,
): () => void {
  const insert = database.prepare('INSERT INTO raw VALUES (?, ?, ?, ?)')
  const rows = events.map(({ createdAt, event: { type, username, data } }): RawRow => [
    createdAt,
    type,
    username,
    JSON.stringify(data),
  ])
  const insertBatch = database.transaction((from: number) => {
    for (const row of rows.slice(from, from + batch)) insert.run(...row)
  })
  return () => {
    for (let from = 0; from < rows.length; from += batch) insertBatch.immediate(from)
  }
}

const jsonField = (path: readonly string[]): string => `json_extract(j, '$.${path.join('.')}')`

export const SQLITE: Dialect = {
  field: jsonField,
  number: jsonField,
  placeholder: () => '?',
  isNot: 'IS NOT',
  like: 'LIKE',
}

/** The index by which this attribute is found at once, newest first. */
export const idealIndex = (path: readonly string[]): string => `raw_by_${path.join('_')}`

export function makeIdealIndex(database: Database.Database, path: readonly string[]): void {
  const [first] = path
  const column = first === 'type' || first === 'username' ? first : jsonField(path)
  database.exec(`CREATE INDEX IF NOT EXISTS ${idealIndex(path)} ON raw (${column}, created_at)`)
}
