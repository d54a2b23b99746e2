import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask } from '../connection/client.js'
import { isListedSql } from '../schema/removed-events.js'
import type { DriverContext } from './driver-context.js'
import { changeIndexState } from './index-state.js'

/** Rows that one transaction checks. */
const STEP = 1000

/**
 * Deletes the rows between the times, which are not later than `sealed_to`, of events that no segment has any more.
 * Each transaction changes the version: a segment that another process has begun before may have such an event, and
 * cannot be published any more.
 */
export async function forgetRemoved(
  context: Pick<DriverContext, 'names' | 'run'>,
  from: Microseconds,
  to: Microseconds,
): Promise<void> {
  let after: Microseconds | undefined = from - 1
  while (after !== undefined && (await hasRemoved(context, after, to)))
    after = await forgetSome(context, after, to)
}

async function hasRemoved(
  { names: { removed }, run }: Pick<DriverContext, 'names' | 'run'>,
  after: Microseconds,
  to: Microseconds,
): Promise<boolean> {
  const text = `SELECT FROM ${removed} WHERE created_at > $1 AND created_at <= $2 LIMIT 1`
  return (await run((client) => ask(client, text, after, to))).length > 0
}

/** Returns the time of the last row that it has checked; `undefined` if there are no more. */
async function forgetSome(
  { names, run }: Pick<DriverContext, 'names' | 'run'>,
  after: Microseconds,
  to: Microseconds,
): Promise<Microseconds | undefined> {
  const { segments, removed } = names
  const { building, visible, damaged } = SegmentState
  let last: Microseconds | undefined
  await run((client) =>
    changeIndexState(client, names, async (state) => {
      // The range of a damaged segment may be wrong.
      const rows = await ask(
        client,
        `SELECT created_at, EXISTS (
           SELECT FROM ${segments} AS s
           WHERE s.state = ${damaged} OR s.state IN (${building}, ${visible}) AND ${isListedSql}
         ) FROM ${removed} AS r WHERE created_at > $1 AND created_at <= $2
         ORDER BY created_at LIMIT ${STEP}`,
        after,
        to,
      )
      last = rows.length < STEP ? undefined : Number(rows.at(-1)![0])
      const free = rows.filter(([, isListed]) => isListed === 'f').map(([time]) => time)
      if (free.length === 0) return undefined
      await ask(client, `DELETE FROM ${removed} WHERE created_at = ANY ($1::int8[])`, free)
      return state
    }),
  )
  return last
}
