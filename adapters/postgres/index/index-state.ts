import type { SegmentRow } from '../../../src/store-kit/index-builder/index-driver.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, inTransaction, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { IDLE_TIMEOUT } from './transaction-settings.js'

export const DEFAULT_TUNING: SealingTuning = { segmentSize: 8192, fanOut: 16 }

/** By the times of their first events. */
export async function visibleSegments(
  client: PostgresPoolClient,
  { segments }: Names,
): Promise<readonly SegmentRow[]> {
  const rows = await ask(
    client,
    `SELECT id, level, size, first, last, partial FROM ${segments}
     WHERE state = ${SegmentState.visible} ORDER BY first, id`,
  )
  return rows.map((row) => {
    const [id, level, size, first, last, partial] = row.map(Number)
    return {
      id: id!,
      level: level!,
      size: size!,
      first: first!,
      last: last!,
      isPartial: partial === 1,
    }
  })
}

export interface IndexState {
  /** Changes whenever the visible segments or `sealedTo` change. */
  readonly version: number
  /** Events with a later time are in no segment, unless they were late. */
  readonly sealedTo: Microseconds
}

/**
 * Runs `change` in a transaction that may change which segments are visible; only one such transaction runs at
 * a time. `change` returns the new state, or `undefined` if it has changed nothing.
 */
export const changeIndexState = (
  client: PostgresPoolClient,
  { indexState }: Names,
  change: (state: IndexState) => Promise<Pick<IndexState, 'sealedTo'> | undefined>,
): Promise<boolean> =>
  inTransaction(client, async () => {
    await ask(client, IDLE_TIMEOUT)
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
