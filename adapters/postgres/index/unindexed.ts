import { askAll, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'

/** SQL for the number of events that are in no segment, at most `limit` for each of two kinds; reads `state`. */
export const unindexedSql = ({ events, late }: Names, limit: string): string => `
  (SELECT count(*) FROM (SELECT FROM ${events}
    WHERE created_at > (SELECT sealed_to FROM state) ORDER BY created_at LIMIT ${limit}) AS fresh)
  + (SELECT count(*) FROM (SELECT FROM ${late}
    WHERE created_at <= (SELECT sealed_to FROM state) LIMIT ${limit}) AS late)`

export interface Unindexed {
  /** Events that are in no segment; counted up to a limit. */
  readonly count: number
  /** Changes whenever segments have become visible. */
  readonly version: string
}

/** Counts the events that are in no segment, up to `limit`. */
export async function countUnindexed(
  client: PostgresPoolClient,
  names: Names,
  limit: number,
): Promise<Unindexed> {
  const results = await askAll(
    client,
    `BEGIN READ ONLY; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
     WITH state AS MATERIALIZED (SELECT version, sealed_to FROM ${names.indexState})
     SELECT version, ${unindexedSql(names, String(limit))} FROM state;
     COMMIT`,
  )
  const [row] = results.at(-2)!
  return { version: row![0]!, count: Number(row![1]) }
}
