import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { State } from './segment-keys.js'
import { IS_LEASED } from './lease.js'
import { BEFORE_ALL } from './segment-dropping.js'

/** Whether enough is unsealed; in the worst case it counts a segment's events. */
const isSealDueSql = ({ events, late }: Names): string => `
  (SELECT count(*) FROM (SELECT FROM ${events}
    WHERE created_at > (SELECT sealed_to FROM state) ORDER BY created_at LIMIT $1) AS fresh)
  + (SELECT count(*) FROM (SELECT FROM ${late}
    WHERE created_at <= (SELECT sealed_to FROM state) LIMIT $1) AS late) >= $1`

export async function isSealDue(
  client: PostgresPoolClient,
  names: Names,
  { segmentSize }: SealingTuning,
): Promise<boolean> {
  const [row] = await ask(
    client,
    `WITH state AS MATERIALIZED (SELECT sealed_to FROM ${names.indexState})
     SELECT ${isSealDueSql(names)}`,
    segmentSize,
  )
  return row![0] === 't'
}

/** What a round would find: something to do, nothing, or that another process is at it. */
export type Due = 'due' | 'nothing' | 'leased'

/** There is nothing to do for who may only read, as on a standby. */
export async function findDue(
  client: PostgresPoolClient,
  names: Names,
  { segmentSize }: SealingTuning,
): Promise<Due> {
  const [row] = await ask(
    client,
    `WITH state AS MATERIALIZED (SELECT * FROM ${names.indexState})
     SELECT CASE
       WHEN current_setting('transaction_read_only') = 'on' THEN 'nothing'
       WHEN (SELECT ${IS_LEASED} FROM state) THEN 'leased'
       WHEN EXISTS (SELECT FROM ${names.segments}
         WHERE state <> ${State.visible} OR ${BEFORE_ALL(names.events)}) THEN 'due'
       WHEN ${isSealDueSql(names)} THEN 'due'
       ELSE 'nothing' END`,
    segmentSize,
  )
  return row![0] as Due
}
