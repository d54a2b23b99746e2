import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { ask, ASYNC_COMMIT, type PostgresPoolClient, type TextRow } from '../connection/client.js'
import { isCorrupt } from '../connection/failures.js'
import type { Names } from '../schema/names.js'
import type { DriverContext } from './driver-context.js'
import { changeIndexState, loadSegments } from './index-state.js'

/** Rows that one transaction removes. */
const MAX_ROWS = 500

/** Below all numbers of chunks, also of damaged ones. */
const MIN_NUMBER = -(2 ** 31)

const oldestSql = (events: string): string =>
  `coalesce((SELECT min(created_at) FROM ${events}), 9223372036854775807)`

/** SQL condition: a segment ends before the oldest event. */
export const isExpiredSql = (events: string): string => `last < ${oldestSql(events)}`

/** Hides segments from queries, within a transaction. */
export async function hideSegments(
  client: PostgresPoolClient,
  { segments }: Names,
  ids: readonly number[],
): Promise<void> {
  await ask(
    client,
    `UPDATE ${segments} SET state = ${SegmentState.gone} WHERE id = ANY ($1::int8[])`,
    ids,
  )
}

const IS_HIDDEN = `state IN (${SegmentState.building}, ${SegmentState.gone})`

export async function hiddenSegments({ names, run }: DriverContext): Promise<readonly number[]> {
  const rows = await run((client) =>
    ask(client, `SELECT id FROM ${names.segments} WHERE ${IS_HIDDEN}`),
  )
  return rows.map(([id]) => Number(id))
}

export const hideExpired = ({ names, run }: DriverContext): Promise<readonly number[]> =>
  run(async (client) => {
    let ids: number[] = []
    await changeIndexState(client, names, async (state) => {
      const [row] = await ask(client, `SELECT ${oldestSql(names.events)}`)
      const oldest = Number(row![0])
      const segments = await loadSegments(client, names)
      ids = segments.filter(({ last }) => last < oldest).map(({ id }) => id)
      await hideSegments(client, names, ids)
      return ids.length > 0 ? state : undefined
    })
    return ids
  })

export async function markGone({ names, run }: DriverContext, id: number): Promise<boolean> {
  const rows = await run((client) =>
    ask(
      client,
      `WITH marked AS (
         UPDATE ${names.segments} SET state = ${SegmentState.gone}
         WHERE id = $1 AND ${IS_HIDDEN} RETURNING 1
       ) SELECT ${ASYNC_COMMIT} FROM marked`,
      id,
    ),
  )
  return rows.length > 0
}

export async function deleteChunks(
  { names: { chunks }, run }: DriverContext,
  id: number,
): Promise<void> {
  const nothing = (error: unknown): readonly TextRow[] => {
    if (!isCorrupt(error)) throw error
    // Ids of segments are not used again, so nothing reads the remaining rows.
    return [['0', null]]
  }
  // Index entries of removed rows stay until a vacuum: `from` skips them. The array is made once. If the statistics do not know
  // the segment yet, `number IN (SELECT …)` reads the next rows again for each row.
  for (let from = MIN_NUMBER, removed = MAX_ROWS; removed === MAX_ROWS;) {
    const [row] = await run((client) =>
      ask(
        client,
        `WITH removed AS (
           DELETE FROM ${chunks} WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM ${chunks} WHERE segment = $1 AND number >= $2
             ORDER BY number LIMIT ${MAX_ROWS}
           )) RETURNING number
         ) SELECT count(*), max(number), ${ASYNC_COMMIT} FROM removed`,
        id,
        from,
      ),
    ).catch(nothing)
    removed = Number(row![0])
    from = Number(row![1]) + 1
  }
}

export async function deleteSegment({ names, run }: DriverContext, id: number): Promise<void> {
  await run((client) =>
    ask(
      client,
      `WITH deleted AS (DELETE FROM ${names.segments} WHERE id = $1 RETURNING 1)
       SELECT ${ASYNC_COMMIT} FROM deleted`,
      id,
    ),
  )
}
