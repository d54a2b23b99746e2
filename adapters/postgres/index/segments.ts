import { AuditLogError } from '../../../src/errors.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { SegmentInfo } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, inTransaction, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { State } from './segment-keys.js'
import { IMPATIENT } from './steps.js'

export interface SegmentRow extends SegmentInfo {
  /** How often its events were merged. */
  readonly level: number
}

export const DEFAULT_TUNING: SealingTuning = { segmentSize: 8192, fanOut: 16 }

/** By the times of their first events. */
export async function visibleSegments(
  client: PostgresPoolClient,
  { segments }: Names,
): Promise<readonly SegmentRow[]> {
  const rows = await ask(
    client,
    `SELECT id, level, size, first, last FROM ${segments}
     WHERE state = ${State.visible} ORDER BY first, id`,
  )
  return rows.map((row) => {
    const [id, level, size, first, last] = row.map(Number)
    return { id: id!, level: level!, size: size!, first: first!, last: last! }
  })
}

export interface IndexState {
  readonly version: number
  readonly sealedTo: Microseconds
}

/**
 * One transaction that changes which segments are seen: the only one at that time. `change` gives the
 * new state, or `undefined` where it has changed nothing.
 */
export const changeIndex = (
  client: PostgresPoolClient,
  { indexState }: Names,
  change: (state: IndexState) => Promise<Pick<IndexState, 'sealedTo'> | undefined>,
): Promise<boolean> =>
  inTransaction(client, async () => {
    await ask(client, IMPATIENT)
    const [row] = await ask(client, `SELECT version, sealed_to FROM ${indexState} FOR UPDATE`)
    const [version, sealedTo] = row!.map(Number)
    const next = await change({ version: version!, sealedTo: sealedTo! })
    if (!next) return false
    await ask(
      client,
      `UPDATE ${indexState} SET version = version + 1, sealed_to = $1`,
      next.sealedTo,
    )
    return true
  })

/** Another process has begun to remove the segment meanwhile, or the table is damaged. */
export const missingRows = (id: number): AuditLogError =>
  new AuditLogError('STORE_FAILED', `segment ${id} of the index is not there as a whole`)
