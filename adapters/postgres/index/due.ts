import type { Due } from '../../../src/store-kit/index-builder/sealer.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import {
  INDEX_BOUNDS,
  type IndexBounds,
  maxStoredBytes,
} from '../../../src/store-kit/index/index-bounds.js'
import { hasStaleSql } from '../../../src/store-kit/maintenance/dropping.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { dialectOf } from './dialect.js'
import { IS_LEASED } from './lease.js'

/** SQL that is true if $1 events, or $2 stored bytes of attributes, are unsealed; counts no further than $1 events. */
const isSealDueSql = ({ events, late }: Names): string => `
  (SELECT count(*) + (SELECT count(*) FROM (SELECT FROM ${late}
      WHERE created_at <= (SELECT sealed_to FROM state) LIMIT $1) AS late) >= $1
    OR coalesce(sum(pg_column_size(attributes)), 0) >= $2
    FROM (SELECT attributes FROM ${events}
      WHERE created_at > (SELECT sealed_to FROM state) ORDER BY created_at LIMIT $1) AS fresh)`

/** True if `size` events are unsealed, or as many bytes as one segment may have. Counts up to that many events. */
export async function isSealDue(
  client: PostgresPoolClient,
  names: Names,
  size: number,
  bounds: IndexBounds,
): Promise<boolean> {
  const [row] = await ask(
    client,
    `WITH state AS MATERIALIZED (SELECT sealed_to FROM ${names.indexState})
     SELECT ${isSealDueSql(names)}`,
    size,
    maxStoredBytes(bounds),
  )
  return row![0] === 't'
}

/** Returns `due` if a round would find work. Nothing is due for a read-only connection, as to a standby. */
export async function findDue(
  client: PostgresPoolClient,
  names: Names,
  { segmentSize, bounds = INDEX_BOUNDS }: SealingTuning,
): Promise<Due> {
  const [row] = await ask(
    client,
    `WITH state AS MATERIALIZED (SELECT * FROM ${names.indexState})
     SELECT CASE
       WHEN current_setting('transaction_read_only') = 'on' THEN 'nothing'
       WHEN (SELECT ${IS_LEASED} FROM state) THEN 'leased'
       WHEN (SELECT rebuild FROM state) THEN 'due'
       WHEN ${hasStaleSql(dialectOf(names).tables)} THEN 'due'
       WHEN ${isSealDueSql(names)} THEN 'due'
       ELSE 'nothing' END`,
    segmentSize,
    maxStoredBytes(bounds),
  )
  return row![0] as Due
}
