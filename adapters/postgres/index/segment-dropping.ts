import { ask } from '../connection/client.js'
import { State } from './segment-keys.js'
import { changeIndex } from './segments.js'
import { type Steps, WITHOUT_WAITING } from './steps.js'

// Rows that one transaction removes.
const MOST_ROWS = 500

/**
 * Removes a segment that nobody begins to read any more, and last its row: until then nobody forgets it.
 * One that is visible stays: its maker was taken for dead, and has finished it after all.
 */
export async function dropSegment({ names, run }: Steps, id: number): Promise<void> {
  const { segments, chunks } = names
  // From here on nobody writes to it either.
  const gone = await run((client) =>
    ask(
      client,
      `UPDATE ${segments} SET state = ${State.gone}
       WHERE id = $1 AND state <> ${State.visible} RETURNING ${WITHOUT_WAITING}`,
      id,
    ),
  )
  if (gone.length === 0) return
  const [row] = await run((client) =>
    ask(client, `SELECT min(number), max(number) FROM ${chunks} WHERE segment = $1`, id),
  )
  const [first, last] = row!.map((number) => Number(number ?? -1))
  for (let from = first!; from <= last! && last! >= 0; from += MOST_ROWS)
    await run((client) =>
      ask(
        client,
        `WITH removed AS (
           DELETE FROM ${chunks} WHERE segment = $1 AND number >= $2 AND number < $3 RETURNING 1
         ) SELECT count(*), ${WITHOUT_WAITING} FROM removed`,
        id,
        from,
        from + MOST_ROWS,
      ),
    )
  await run((client) =>
    ask(client, `DELETE FROM ${segments} WHERE id = $1 RETURNING ${WITHOUT_WAITING}`, id),
  )
}

/**
 * Removes the segments that are not visible: they were left behind by who made or merged them. False where there is
 * none. Who is still making one notices, and gives up.
 */
export async function removeOrphans(steps: Steps): Promise<boolean> {
  const { segments } = steps.names
  const rows = await steps.run((client) =>
    ask(client, `SELECT id FROM ${segments} WHERE state <> ${State.visible}`),
  )
  for (const [id] of rows) await dropSegment(steps, Number(id))
  return rows.length > 0
}

/**
 * Removes the segments whose events were all before the oldest that there is; false where there is none.
 * What comes at such a time later, stands in the list of late events.
 */
export async function dropGone(steps: Steps): Promise<boolean> {
  const { names } = steps
  const gone = await steps.run(async (client) => {
    let ids: number[] = []
    await changeIndex(client, names, async (state) => {
      const rows = await ask(
        client,
        `UPDATE ${names.segments} SET state = ${State.gone}
         WHERE state = ${State.visible} AND ${BEFORE_ALL(names.events)} RETURNING id`,
      )
      ids = rows.map(([id]) => Number(id))
      return ids.length > 0 ? state : undefined
    })
    return ids
  })
  for (const id of gone) await dropSegment(steps, id)
  return gone.length > 0
}

/** Whether a segment ends before the oldest event. */
export const BEFORE_ALL = (events: string): string =>
  `last < coalesce((SELECT min(created_at) FROM ${events}), 9223372036854775807)`
