import { createDamageReporter, type DamageReporter } from '../../../src/store/damage.js'
import type { Connection } from '../connection/connection.js'
import { createEventReader, type EventReader } from './events.js'
import { createLiveReader, type LiveReader } from './live-rows.js'

/** The tables of a log, read and written through one connection. */
export interface Tables {
  readonly connection: Connection
  readonly events: EventReader
  readonly live: LiveReader
  readonly damages: DamageReporter
}

export function createTables(connection: Connection): Tables {
  const damages = createDamageReporter()
  return {
    connection,
    events: createEventReader(connection, damages),
    live: createLiveReader(connection, damages),
    damages,
  }
}
