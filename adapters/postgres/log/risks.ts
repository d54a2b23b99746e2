import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import type { PostgresPoolClient } from '../connection/client.js'
import type { SchemaState } from '../schema/schema.js'
import { readCommitSetting } from './commit-setting.js'

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

const lossText = (acknowledged: Microseconds, newest: Microseconds): string =>
  `acknowledged events are lost: one of ${formatTimestamp(acknowledged)} was acknowledged, ` +
  `but the newest event of the server that has taken over is of ${formatTimestamp(newest)}`

export function createRisks(): Risks {
  let loss: string | undefined
  const warned = new Set<string>()

  const read: Risks['read'] = async (client) => {
    const { risk, remedy } = await readCommitSetting(client)
    const weak = risk === undefined ? [] : [`${risk}; ${remedy}`]
    return loss === undefined ? weak : [...weak, loss]
  }

  return {
    read,
    async note(client, { highWater }, acknowledged) {
      if (acknowledged > highWater) loss = lossText(acknowledged, highWater)
      for (const text of await read(client)) {
        if (!warned.has(text)) process.emitWarning(text)
        warned.add(text)
      }
    },
  }
}
