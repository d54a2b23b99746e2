import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import type { PostgresPool, PostgresPoolClient } from '../connection/client.js'
import { withConnection } from '../connection/connection.js'
import type { Names, Partitions } from '../schema/names.js'
import { makePartitions, periodsAhead } from '../schema/partitions.js'
import { prepareSchema, type SchemaState } from '../schema/schema.js'

/** One log in one database: its names, and its connections once the schema is there. */
export interface PostgresLog {
  readonly names: Names
  /** The time by the clock the host has set; the server's counts where it has set none. */
  readonly now: () => Microseconds | undefined
  /** What was found when the schema was prepared; `undefined` before. */
  state(): SchemaState | undefined
  /** As `withConnection`, on a schema that is up to date. */
  use<Result>(
    signal: AbortSignal,
    act: (client: PostgresPoolClient, state: SchemaState) => Promise<Result>,
    end?: number,
  ): Promise<Result>
}

export interface LogOptions {
  readonly names: Names
  readonly pool: PostgresPool
  readonly partitions: Partitions
  readonly clock: Clock | undefined
  readonly onPrepared: (state: SchemaState) => void
}

export function createLog(options: LogOptions): PostgresLog {
  const { names, pool, partitions, clock, onPrepared } = options
  let state: SchemaState | undefined

  const prepare = async (client: PostgresPoolClient): Promise<SchemaState> => {
    const found = await prepareSchema(client, names, partitions)
    const newest = Math.max(clock?.() ?? found.serverTime, found.highWater)
    await makePartitions(client, names, found.partitions, periodsAhead(newest, found.partitions))
    onPrepared(found)
    return (state ??= found)
  }

  return {
    names,
    now: () => clock?.(),
    state: () => state,
    use: (signal, act, end) =>
      withConnection(
        pool,
        signal,
        async (client) => act(client, state ?? (await prepare(client))),
        end,
      ),
  }
}
