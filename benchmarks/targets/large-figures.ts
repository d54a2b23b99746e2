import pg from 'pg'
import type { Sample } from '../harness/query-cases.js'

/* Figures of a Postgres log: what it takes on disk, the segments of its index, vacuum, and the statements that it has run. */

export async function withClient<Result>(
  url: string,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

const SAMPLES = 500

/** Events that are spread over the log, oldest first. */
export const readSamples = (url: string): Promise<readonly Sample[]> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ time: string; data: Sample['data'] }>(
      `SELECT found.created_at AS time, found.attributes AS data
       FROM (SELECT min(created_at) AS first, max(created_at) AS last FROM daybook.events) AS ends,
         generate_series(0, ${SAMPLES - 1}) AS number,
         LATERAL (SELECT created_at, attributes FROM daybook.events
           WHERE created_at >= first + (last - first) / ${SAMPLES} * number ORDER BY created_at LIMIT 1) AS found
       ORDER BY 1`,
    )
    return rows.map(({ time, data }) => ({ createdAt: Number(time), data }))
  })

export interface Size {
  readonly partitions: number
  readonly events: number
  readonly eventIndexes: number
  readonly attributeIndex: number
}

/** Sizes are in bytes. */
export const readSize = (url: string): Promise<Size> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<Size>(
      `SELECT count(*) FILTER (WHERE isleaf)::int AS partitions, sum(pg_table_size(relid))::float8 AS events, sum(pg_indexes_size(relid))::float8 AS "eventIndexes",
         pg_total_relation_size('daybook.segment_chunks')::float8 AS "attributeIndex"
       FROM pg_partition_tree('daybook.events')`,
    )
    return rows[0]!
  })

export interface Level {
  readonly level: number
  readonly segments: number
  readonly events: number
}

/** The levels of visible segments, from sealed to merged most often, and the number of those that are not in use. */
export const readLevels = (url: string): Promise<readonly Level[]> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<Level>(
      `SELECT level, count(*)::int AS segments, sum(size)::float8 AS events FROM daybook.segments
       WHERE state = 1 GROUP BY level ORDER BY level`,
    )
    return rows
  })

export interface Vacuumed {
  /** Rows that were removed or replaced, by the statistics of the server. */
  readonly dead: number
  /** Runs of autovacuum so far. */
  readonly autovacuums: number
  /** Seconds of `VACUUM (ANALYZE)` of the tables. */
  readonly seconds: number
}

/** Vacuums tables, which are given by a pattern of LIKE. */
export const vacuum = (url: string, pattern: string): Promise<Vacuumed> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string; dead: number; autovacuums: number }>(
      `SELECT relname AS name, n_dead_tup::float8 AS dead, autovacuum_count::float8 AS autovacuums
       FROM pg_stat_user_tables WHERE schemaname = 'daybook' AND relname LIKE $1`,
      [pattern],
    )
    const began = performance.now()
    for (const { name } of rows) await client.query(`VACUUM (ANALYZE) daybook.${name}`)
    return {
      dead: rows.reduce((sum, { dead }) => sum + dead, 0),
      autovacuums: rows.reduce((sum, { autovacuums }) => sum + autovacuums, 0),
      seconds: (performance.now() - began) / 1000,
    }
  })

/** Milliseconds that a call took in the server. */
export interface ServerTimes {
  readonly plan: number
  readonly run: number
}

/** Settings of a server whose statements are to be read. */
export const STATEMENT_SETTINGS = [
  'shared_preload_libraries=pg_stat_statements',
  'pg_stat_statements.track=all',
  'pg_stat_statements.track_planning=on',
]

/** Makes `calls` calls, and returns the means of what their statements on the events took. */
export const measureStatements = (
  url: string,
  calls: number,
  call: () => Promise<unknown>,
): Promise<ServerTimes> =>
  withClient(url, async (client) => {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
    await client.query('SELECT pg_stat_statements_reset()')
    for (let i = 0; i < calls; i++) await call()
    const { rows } = await client.query<ServerTimes>(
      `SELECT coalesce(sum(total_plan_time), 0) AS plan, coalesce(sum(total_exec_time), 0) AS run FROM pg_stat_statements
       WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND (query LIKE '%"daybook".events%' OR query LIKE '%"daybook".append(%')`,
    )
    return { plan: rows[0]!.plan / calls, run: rows[0]!.run / calls }
  })
