import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import type { PostgresPool, PostgresPoolClient } from '../connection/client.js'
import { withConnection } from '../connection/connection.js'
import type { Names, Partitions } from '../schema/names.js'
import { makePartitions, periodsAhead } from '../schema/partitions.js'
import { prepareSchema, readSchema, type SchemaState } from '../schema/schema.js'

/** One log in one database. */
export interface PostgresLog {
  readonly names: Names
  /** The time by the clock of the options; `undefined` if the server's clock counts. */
  readonly now: () => Microseconds | undefined
  /** The schema as it was found when it was prepared; `undefined` before the first connection. */
  state(): SchemaState | undefined
  /** How the table of events is partitioned. To be called within `use`. */
  partitions(): Partitions
  /** Like `withConnection`, after the schema has been created or migrated. */
  use<Result>(
    signal: AbortSignal,
    act: (client: PostgresPoolClient) => Promise<Result>,
    end?: number,
  ): Promise<Result>
}

export interface LogOptions {
  readonly names: Names
  readonly pool: PostgresPool
  readonly partitions: Partitions
  readonly clock: Clock | undefined
  /** Never creates, migrates or extends the schema. */
  readonly readOnly?: boolean
  readonly onPrepared: (state: SchemaState) => void
}

export function createLog(options: LogOptions): PostgresLog {
  const { names, pool, partitions, clock, readOnly, onPrepared } = options
  let state: SchemaState | undefined

  const prepare = async (client: PostgresPoolClient): Promise<void> => {
    if (readOnly) {
      state ??= await readSchema(client, names)
      return
    }
    const found = await prepareSchema(client, names, partitions)
    const newest = Math.max(clock?.() ?? found.serverTime, found.highWater)
    await makePartitions(client, names, found.partitions, periodsAhead(newest, found.partitions))
    onPrepared(found)
    state ??= found
  }

  return {
    names,
    now: () => clock?.(),
    state: () => state,
    partitions: () => state!.partitions,
    use: (signal, act, end) =>
      withConnection(
        pool,
        signal,
        async (client) => {
          if (!state) await prepare(client)
          return act(client)
        },
        end,
      ),
  }
}
