import pg from 'pg'
import { ListKind } from '../../src/store-kit/index/segment-source.js'
import type { Part } from './sqlite-disk.js'

/* What a Postgres log consists of, in bytes. */

export interface PostgresDisk {
  /** Their sizes add up to that of the schema. */
  readonly parts: readonly Part[]
  /** `default_toast_compression` of the server. */
  readonly compression: string
  /** The attributes alone, in tables with other settings. */
  readonly trials: readonly Part[]
}

type Sizes = Readonly<Record<string, number>>

const EVENTS = 'daybook.events'
const CHUNKS = 'daybook.segment_chunks'

/** A table with its partitions. */
const RELATION = `SELECT sum(pg_relation_size(oid))::float8 AS heap, sum(pg_indexes_size(oid))::float8 AS indexes,
    sum(pg_total_relation_size(oid) - pg_relation_size(oid) - pg_indexes_size(oid))::float8 AS toast
  FROM (SELECT relid AS oid FROM pg_partition_tree($1) UNION SELECT $1::regclass) AS relations`

const TOTAL = `SELECT sum(pg_total_relation_size(oid))::float8 AS total FROM pg_class
  WHERE relnamespace = 'daybook'::regnamespace AND relkind IN ('r', 'S')`

const COLUMNS = `SELECT sum(pg_column_size(attributes))::float8 AS attributes,
    sum(pg_column_size(suffix))::float8 AS suffix,
    sum(pg_column_size(type) + coalesce(pg_column_size(username), 0) + coalesce(pg_column_size(source), 0))::float8 AS texts
  FROM ${EVENTS}`

const LISTS = `SELECT coalesce(sum(pg_column_size(vals)) FILTER (WHERE kind < ${ListKind.valued}), 0)::float8 AS vals,
    coalesce(sum(pg_column_size(posts)) FILTER (WHERE kind < ${ListKind.valued}), 0)::float8 AS posts,
    coalesce(sum(pg_column_size(vals) + pg_column_size(posts))
      FILTER (WHERE kind >= ${ListKind.valued} AND kind <> ${ListKind.grams}), 0)::float8 AS lists,
    coalesce(sum(pg_column_size(vals) + pg_column_size(posts)) FILTER (WHERE kind = ${ListKind.grams}), 0)::float8 AS grams
  FROM ${CHUNKS}`

/** Postgres compresses only rows of more than 2 kB: https://www.postgresql.org/docs/current/storage-toast.html */
const TRIALS = {
  'attributes alone, pglz': 'pglz',
  'attributes alone, lz4': 'lz4',
}

const NOT_SUPPORTED = '0A000'

/** Bytes of a table of the attributes alone, which is removed again; NaN if the server has no such compression. */
async function trial(client: pg.Client, compression: string): Promise<number> {
  try {
    await client.query(`CREATE TABLE trial (attributes json COMPRESSION ${compression})`)
  } catch (error) {
    if ((error as { readonly code?: string }).code === NOT_SUPPORTED) return NaN
    throw error
  }
  await client.query(`INSERT INTO trial SELECT attributes FROM ${EVENTS}`)
  const { rows } = await client.query(`SELECT pg_total_relation_size('trial')::float8 AS size`)
  await client.query('DROP TABLE trial')
  return (rows[0] as { readonly size: number }).size
}

/** Nothing writes to the log meanwhile. */
export async function measurePostgres(url: string): Promise<PostgresDisk> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await measure(client)
  } finally {
    await client.end()
  }
}

async function measure(client: pg.Client): Promise<PostgresDisk> {
  const first = async (text: string, ...values: readonly string[]): Promise<Sizes> =>
    (await client.query(text, [...values])).rows[0] as Sizes
  await client.query(`VACUUM ${EVENTS}, ${CHUNKS}`)
  const events = await first(RELATION, EVENTS)
  const columns = await first(COLUMNS)
  const chunks = await first(RELATION, CHUNKS)
  const lists = await first(LISTS)
  const { total } = await first(TOTAL)
  const sum = (sizes: Sizes): number => Object.values(sizes).reduce((all, size) => all + size, 0)
  const parts: Part[] = [
    ['events: attributes, as JSON', columns['attributes']!],
    ['events: type, username, source', columns['texts']!],
    ['events: random end of the id', columns['suffix']!],
    [
      'events: time, checksum, headers of rows and pages, free space',
      events['heap']! + events['toast']! - sum(columns),
    ],
    ['events: primary key', events['indexes']!],
    ['index: values', lists['vals']!],
    ['index: postings of values', lists['posts']!],
    ['index: other lists of events', lists['lists']!],
    ['index: trigrams', lists['grams']!],
    [
      'index: keys, checksums, times of events, headers of rows and pages, free space',
      chunks['heap']! + chunks['toast']! - sum(lists),
    ],
    ['index: B-trees of chunks', chunks['indexes']!],
    ['everything else', total! - sum(events) - sum(chunks)],
  ]
  const trials: Part[] = []
  for (const [name, compression] of Object.entries(TRIALS))
    trials.push([name, await trial(client, compression)])
  const { rows } = await client.query('SHOW default_toast_compression')
  return {
    parts,
    compression: (rows[0] as { readonly default_toast_compression: string })
      .default_toast_compression,
    trials,
  }
}
