import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { ask } from '../connection/client.js'
import type { DriverContext } from './driver-context.js'
import { changeIndexState } from './index-state.js'
import { ASYNC_COMMIT } from './transaction-settings.js'

/** Rows that one transaction removes. */
const MAX_ROWS = 500

/** SQL condition: a segment ends before the oldest event. */
export const isExpiredSql = (events: string): string =>
  `last < coalesce((SELECT min(created_at) FROM ${events}), 9223372036854775807)`

export async function hiddenSegments({ names, run }: DriverContext): Promise<readonly number[]> {
  const rows = await run((client) =>
    ask(client, `SELECT id FROM ${names.segments} WHERE state <> ${SegmentState.visible}`),
  )
  return rows.map(([id]) => Number(id))
}

export const hideExpired = ({ names, run }: DriverContext): Promise<readonly number[]> =>
  run(async (client) => {
    let ids: number[] = []
    await changeIndexState(client, names, async (state) => {
      const rows = await ask(
        client,
        `UPDATE ${names.segments} SET state = ${SegmentState.gone}
         WHERE state = ${SegmentState.visible} AND ${isExpiredSql(names.events)} RETURNING id`,
      )
      ids = rows.map(([id]) => Number(id))
      return ids.length > 0 ? state : undefined
    })
    return ids
  })

export async function markGone({ names, run }: DriverContext, id: number): Promise<boolean> {
  const rows = await run((client) =>
    ask(
      client,
      `UPDATE ${names.segments} SET state = ${SegmentState.gone}
       WHERE id = $1 AND state <> ${SegmentState.visible} RETURNING ${ASYNC_COMMIT}`,
      id,
    ),
  )
  return rows.length > 0
}

export async function deleteChunks(
  { names: { chunks }, run }: DriverContext,
  id: number,
): Promise<void> {
  const [row] = await run((client) =>
    ask(client, `SELECT min(number), max(number) FROM ${chunks} WHERE segment = $1`, id),
  )
  const [first, last] = row!.map((number) => Number(number ?? -1))
  if (last! < 0) return
  for (let from = first!; from <= last!; from += MAX_ROWS)
    await run((client) =>
      ask(
        client,
        `WITH removed AS (
           DELETE FROM ${chunks} WHERE segment = $1 AND number >= $2 AND number < $3 RETURNING 1
         ) SELECT count(*), ${ASYNC_COMMIT} FROM removed`,
        id,
        from,
        from + MAX_ROWS,
      ),
    )
}

export async function deleteSegment({ names, run }: DriverContext, id: number): Promise<void> {
  await run((client) =>
    ask(client, `DELETE FROM ${names.segments} WHERE id = $1 RETURNING ${ASYNC_COMMIT}`, id),
  )
}
