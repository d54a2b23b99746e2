import { createDamageReporter, type DamageReporter } from '../../../src/store/damage.js'
import type { Connection } from '../connection/connection.js'
import { createEventTable, type EventTable } from './events.js'
import { createLiveReader, type LiveReader } from './live-rows.js'

/** The tables of a log, read and written through one connection. */
export interface Tables {
  readonly connection: Connection
  readonly events: EventTable
  readonly live: LiveReader
  readonly damages: DamageReporter
}

export function createTables(connection: Connection): Tables {
  const damages = createDamageReporter()
  return {
    connection,
    events: createEventTable(connection, damages),
    live: createLiveReader(connection, damages),
    damages,
  }
}
