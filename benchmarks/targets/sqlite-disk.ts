import fs from 'node:fs'
import Database from 'better-sqlite3'
import { CHUNK_ID } from '../../adapters/sqlite/index/row-ids.js'
import { DICTIONARY_TABLES } from '../../adapters/sqlite/schema/dictionaries.js'
import { ListKind } from '../../src/store-kit/index/segment-source.js'

/* What a SQLite log consists of, in bytes; see https://www.sqlite.org/dbstat.html. */

/** A part of a log and its size in bytes. */
export type Part = readonly [name: string, bytes: number]

interface Tree {
  readonly name: string
  /** Bytes of its pages. */
  readonly size: number
  /** Bytes of its pages that hold nothing. */
  readonly free: number
}

const TREES = 'SELECT name, sum(pgsize) AS size, sum(unused) AS free FROM dbstat GROUP BY name'

const EVENT_COLUMNS = {
  'attributes, as JSONB': 'attributes',
  'type, username, source': `type || coalesce(username, '') || coalesce(source, '')`,
  'random end of the id': 'suffix',
  'compressed attributes': 'packed',
}

const EVENT_SIZES = `SELECT ${Object.values(EVENT_COLUMNS)
  .map((column) => `sum(coalesce(octet_length(${column}), 0))`)
  .join(', ')} FROM daybook_events`

const LAST_VALUE_KIND = ListKind.valued - 1

const CHUNK_SIZES = `SELECT
    sum(iif(kind <= ${LAST_VALUE_KIND}, octet_length(vals) + coalesce(octet_length(c.packed), 0), 0)),
    sum(iif(kind <= ${LAST_VALUE_KIND}, octet_length(posts), 0)),
    sum(iif(kind > ${LAST_VALUE_KIND} AND kind <> ${ListKind.grams}, octet_length(vals) + coalesce(octet_length(c.packed), 0) + octet_length(posts), 0)),
    sum(iif(kind = ${ListKind.grams}, octet_length(vals) + coalesce(octet_length(c.packed), 0) + octet_length(posts), 0))
  FROM daybook_chunk_keys AS k CROSS JOIN daybook_chunks AS c ON c.id = ${CHUNK_ID}`

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0)

/** The parts of the file, which nothing writes to; their sizes add up to that of the file. */
export function sqliteParts(filename: string): readonly Part[] {
  const database = new Database(filename, { readonly: true })
  const row = (text: string): number[] =>
    (database.prepare(text).raw().get() as (number | null)[]).map((size) => size ?? 0)
  const trees = database.prepare(TREES).all() as Tree[]
  const tree = (name: string): Tree =>
    trees.find((one) => one.name === name) ?? { name, size: 0, free: 0 }
  const columns = row(EVENT_SIZES)
  const [values, postings, lists, grams] = row(CHUNK_SIZES) as [number, number, number, number]
  const pageSize = database.pragma('page_size', { simple: true }) as number
  const freePages = pageSize * (database.pragma('freelist_count', { simple: true }) as number)
  database.close()

  const events = tree('daybook_events')
  const chunks = tree('daybook_chunks')
  const keys = tree('daybook_chunk_keys')
  const dictionaries = DICTIONARY_TABLES.reduce((sum, name) => sum + tree(name).size, 0)
  const chunkBytes = [values, postings, lists, grams]
  const parts: Part[] = [
    ...Object.keys(EVENT_COLUMNS).map((name, i): Part => [`events: ${name}`, columns[i]!]),
    [
      'events: time, checksum, headers of rows and pages',
      events.size - events.free - sumOf(columns),
    ],
    ['events: free space in pages', events.free],
    ['index: values', values],
    ['index: postings of values', postings],
    ['index: other lists of events', lists],
    ['index: trigrams', grams],
    ['index: checksums, headers of rows and pages', chunks.size - chunks.free - sumOf(chunkBytes)],
    ['index: free space in pages', chunks.free],
    ['index: keys of chunks', keys.size],
    ['index: times of events', tree('daybook_segment_times').size],
    ['dictionaries', dictionaries],
    ['free pages', freePages],
  ]
  const rest = fs.statSync(filename).size - sumOf(parts.map(([, size]) => size))
  return [...parts, ['everything else', rest]]
}
