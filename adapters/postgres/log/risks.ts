import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import type { PostgresPoolClient } from '../connection/client.js'
import type { SchemaState } from '../schema/schema.js'
import { readCommitSetting } from './commit-setting.js'
import { warn } from '../../../src/async/warn.js'

/** Why acknowledged events may be lost, or were lost. */
export interface Risks {
  /** A sentence for each. */
  read(client: PostgresPoolClient): Promise<readonly string[]>
  /**
   * Notes the state of a server that was not used before, after an event of the time `acknowledged` was acknowledged.
   * Emits a process warning for each risk, once.
   */
  note(
    client: PostgresPoolClient,
    state: Pick<SchemaState, 'highWater'>,
    acknowledged: Microseconds,
  ): Promise<void>
}

/** For a pooler in transaction mode; `isDirect`: on the connections of `listenConnectionString`. */
export const poolingRisk = (isDirect: boolean): string =>
  isDirect
    ? 'listenConnectionString leads through a pooler in transaction mode: it must lead to the server itself'
    : 'the connections lead through a pooler in transaction mode, where LISTEN and session locks do not work: events of ' +
      'other processes are seen up to a second late, and cleaning drops no partitions; set listenConnectionString to the address of the server itself'

const lossText = (acknowledged: Microseconds, newest: Microseconds): string =>
  `acknowledged events are lost: one of ${formatTimestamp(acknowledged)} was acknowledged, ` +
  `but the newest event of the server that has taken over is of ${formatTimestamp(newest)}`

/** `pooling` returns the risks of a pooler on the way. */
export function createRisks(pooling: () => string | undefined): Risks {
  let loss: string | undefined
  const warned = new Set<string>()

  const read: Risks['read'] = async (client) => {
    const { risk, remedy } = await readCommitSetting(client)
    const weak = risk === undefined ? [] : [`${risk}; ${remedy}`]
    return [...weak, ...[loss, pooling()].filter((text) => text !== undefined)]
  }

  return {
    read,
    async note(client, { highWater }, acknowledged) {
      if (acknowledged > highWater) loss = lossText(acknowledged, highWater)
      for (const text of await read(client)) {
        if (!warned.has(text)) warn(text)
        warned.add(text)
      }
    },
  }
}
