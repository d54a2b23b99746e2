import type { Due } from '../../../src/store-kit/index-builder/sealer.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { IS_LEASED } from './lease.js'
import { isExpiredSql } from './segment-dropping.js'

/** Whether $1 events are unsealed; counts no further than that. */
const isSealDueSql = ({ events, late }: Names): string => `
  (SELECT count(*) FROM (SELECT FROM ${events}
    WHERE created_at > (SELECT sealed_to FROM state) ORDER BY created_at LIMIT $1) AS fresh)
  + (SELECT count(*) FROM (SELECT FROM ${late}
    WHERE created_at <= (SELECT sealed_to FROM state) LIMIT $1) AS late) >= $1`

/** True if `size` events are unsealed. Counts up to that many. */
export async function isSealDue(
  client: PostgresPoolClient,
  names: Names,
  size: number,
): Promise<boolean> {
  const [row] = await ask(
    client,
    `WITH state AS MATERIALIZED (SELECT sealed_to FROM ${names.indexState})
     SELECT ${isSealDueSql(names)}`,
    size,
  )
  return row![0] === 't'
}

/** Whether a round would find work. Nothing is due for a read-only connection, as to a standby. */
export async function findDue(
  client: PostgresPoolClient,
  names: Names,
  segmentSize: number,
): Promise<Due> {
  const [row] = await ask(
    client,
    `WITH state AS MATERIALIZED (SELECT * FROM ${names.indexState})
     SELECT CASE
       WHEN current_setting('transaction_read_only') = 'on' THEN 'nothing'
       WHEN (SELECT ${IS_LEASED} FROM state) THEN 'leased'
       WHEN EXISTS (SELECT FROM ${names.segments}
         WHERE state <> ${SegmentState.visible} OR ${isExpiredSql(names.events)}) THEN 'due'
       WHEN ${isSealDueSql(names)} THEN 'due'
       ELSE 'nothing' END`,
    segmentSize,
  )
  return row![0] as Due
}
