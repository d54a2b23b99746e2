import { ask, ASYNC_COMMIT, type TextRow } from '../connection/client.js'
import { isCorrupt } from '../connection/failures.js'
import type { DriverContext } from './driver-context.js'

/** Rows that one transaction removes. */
const MAX_ROWS = 500

/** Below all numbers of chunks, also of damaged ones. */
const MIN_NUMBER = -(2 ** 31)

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
