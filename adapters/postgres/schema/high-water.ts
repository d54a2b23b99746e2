import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient, runInTransaction } from '../connection/client.js'
import { isCorrupt } from '../connection/failures.js'
import type { Names } from './names.js'
import type { SchemaState } from './schema.js'

/** SQL of the time of the newest event, open or not; 0 if there is none. */
export const newestSql = ({ events, liveEvents }: Names): string =>
  `greatest(0, (SELECT max(created_at) FROM ${events}), (SELECT max(created_at) FROM ${liveEvents}))`

const raise = async (client: PostgresPoolClient, names: Names): Promise<Microseconds> => {
  /** The time of the newest event, and the high-water mark after it was read. */
  const read = async (): Promise<readonly [newest: Microseconds, mark: Microseconds]> => {
    const [row] = await ask(
      client,
      `SELECT ${newestSql(names)}, last_value FROM ${names.highWater}`,
    )
    return [Number(row![0]), Number(row![1])]
  }
  const [newest, mark] = await read()
  if (newest <= mark) return mark
  return runInTransaction(client, async () => {
    await ask(client, `SELECT ${names.lock('order')}`)
    const raised = Math.max(...(await read()))
    await ask(client, `SELECT ${names.raiseHighWater}($1)`, raised)
    return raised
  })
}

/**
 * Raises the high-water mark to the newest event. It is lower on a server that has got the log by logical replication,
 * which copies no sequences. A log whose newest event cannot be read keeps its mark. Returns the state with the mark.
 */
export async function raiseHighWater(
  client: PostgresPoolClient,
  names: Names,
  state: SchemaState,
): Promise<SchemaState> {
  try {
    return { ...state, highWater: await raise(client, names) }
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return state
  }
}
