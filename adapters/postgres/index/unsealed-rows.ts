import { createExtractor, type Extract } from '../../../src/store-kit/index/extract.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, askLast, type PostgresPoolClient, type TextRow } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import type { IndexState } from './segments.js'
import type { Steps } from './steps.js'

/** Events that are in no segment yet, enough for one, as of one moment. */
export interface UnsealedRows extends IndexState {
  /** In the order of their times. */
  readonly rows: readonly TextRow[]
  /** The ids of the late ones among them, and of such as are gone. */
  readonly late: readonly string[]
  /** Behind `sealedTo` all up to here are among them. */
  readonly upTo: Microseconds
  /** For how many segments there are enough events, counted no further than `MOST_BEHIND`. */
  readonly behind: number
}

/** Where the index is so many segments behind, there is no more rest while events are written. */
export const MOST_BEHIND = 8

// Along the key: of a table that has grown since it was analyzed the planner would sort the whole.
const BEGIN = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL jit = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;`

/**
 * Reads the late events, oldest first, and behind `sealed_to` so many that it is `size` of both;
 * `undefined` where there are not as many. Appends commit in the order of their times, so all that
 * comes later has a later time, or is late.
 */
export async function readUnsealed(
  client: PostgresPoolClient,
  names: Names,
  size: number,
): Promise<UnsealedRows | undefined> {
  const { indexState } = names
  const [state] = await askLast(client, `${BEGIN} SELECT version, sealed_to FROM ${indexState}`)
  const [version, sealedTo] = state!.map(Number)
  const found = await readBehind(client, names, sealedTo!, size)
  await ask(client, 'COMMIT')
  return found && { version: version!, sealedTo: sealedTo!, ...found }
}

async function readBehind(
  client: PostgresPoolClient,
  { events, late: lateEvents }: Names,
  sealedTo: Microseconds,
  size: number,
): Promise<Pick<UnsealedRows, 'rows' | 'late' | 'upTo' | 'behind'> | undefined> {
  const late = await ask(
    client,
    `SELECT id, created_at FROM ${lateEvents} WHERE created_at <= $1 ORDER BY created_at LIMIT $2`,
    sealedTo,
    size,
  )
  const left = size - late.length
  const [count] = await ask(
    client,
    `SELECT count(*) FROM
       (SELECT FROM ${events} WHERE created_at > $1 ORDER BY created_at LIMIT $2) AS fresh`,
    sealedTo,
    MOST_BEHIND * size,
  )
  const unsealed = late.length + Number(count![0])
  if (unsealed < size) return undefined
  const columns = 'created_at, type, username, system, attributes'
  const old = await ask(
    client,
    `SELECT ${columns} FROM ${events} WHERE created_at = ANY ($1::int8[]) ORDER BY created_at`,
    late.map(([, time]) => time),
  )
  const fresh = await ask(
    client,
    `SELECT ${columns} FROM ${events} WHERE created_at > $1 ORDER BY created_at LIMIT $2`,
    sealedTo,
    left,
  )
  const upTo = fresh.length > 0 ? Number(fresh.at(-1)![0]) : sealedTo
  const met = await ask(
    client,
    `SELECT id FROM ${lateEvents} WHERE created_at > $1 AND created_at <= $2`,
    sealedTo,
    upTo,
  )
  return {
    rows: [...old, ...fresh],
    late: [...late, ...met].map(([id]) => id!),
    upTo,
    behind: Math.min(MOST_BEHIND, Math.floor(unsealed / size)),
  }
}

/** Takes the events apart. */
export async function extractRows(steps: Steps, rows: readonly TextRow[]): Promise<Extract> {
  const extractor = createExtractor()
  for (const [time, type, username, system, attributes] of rows) {
    extractor.add({
      time: Number(time),
      type: type!,
      username: username!,
      system: system === 't',
      attributes: attributes!,
    })
    if (steps.isTurn()) await steps.turn()
  }
  return extractor.extract()
}
