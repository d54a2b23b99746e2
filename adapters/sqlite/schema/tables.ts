import { createDamageReporter, type DamageReporter } from '../../../src/store/damage.js'
import type { Connection } from '../connection/connection.js'
import { createEventTable, type EventTable } from './events.js'
import { createLiveTable, type LiveTable } from './live.js'
import { createThrottleTable, type ThrottleTable } from './throttles.js'

/** The tables of a log, read and written through one connection. */
export interface Tables {
  readonly connection: Connection
  readonly events: EventTable
  readonly live: LiveTable
  readonly throttles: ThrottleTable
  readonly damages: DamageReporter
}

export function createTables(connection: Connection): Tables {
  const damages = createDamageReporter()
  const events = createEventTable(connection, damages)
  return {
    connection,
    events,
    live: createLiveTable(connection, events, damages),
    throttles: createThrottleTable(connection),
    damages,
  }
}
