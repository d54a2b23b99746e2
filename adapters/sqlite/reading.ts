import type { AuditEvent } from '../../src/event/event.js'
import type { Clock } from '../../src/event/timestamp.js'
import type { EventStore } from '../../src/store/store.js'
import type { CommitWatcher } from './connection/commit-watcher.js'
import { countEvents } from './read/count.js'
import { findExcess } from './read/excess.js'
import type { Indexed } from './read/index-run.js'
import { listEvents } from './read/list.js'
import { rowToEvent } from './schema/rows.js'
import type { Tables } from './schema/tables.js'

/** Finds an event by its id. */
export function findEvent({ live, events }: Tables, id: string): AuditEvent | undefined {
  // Open events first: an event that closes in between is then found in the table of events.
  const row = live.find(id) ?? events.find(id)
  return row && rowToEvent(row)
}

/** The methods of the store that only read. */
export function createReading(
  indexed: Indexed,
  watcher: CommitWatcher,
  clock: Clock,
): Pick<EventStore, 'get' | 'list' | 'count' | 'excess' | 'openEvents' | 'watch'> {
  const { tables } = indexed
  const { connection, live } = tables
  return {
    get: async (id, options = {}) => connection.retry(() => findEvent(tables, id), options),
    list: (query, options = {}) => listEvents(indexed, query, options),
    count: (query, options = {}) => countEvents(tables, query, clock, options),
    excess: async (bounds, options = {}) => findExcess(connection, bounds, options),
    openEvents: async (options = {}) => connection.retry(() => live.open(), options),
    watch: (hint) => watcher.add(hint),
  }
}
