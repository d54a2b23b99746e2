import type { EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import type { Documents } from './documents/documents.js'
import { postgresDocuments } from './documents/postgres.js'
import { sqliteDocuments } from './documents/sqlite.js'
import { serviceFile, type StoreOption } from './options.js'

export interface Stores {
  readonly events: EventStore
  readonly documents: Documents
}

/** Opens the log and the service's own data. */
export async function openStores(option: StoreOption, writeTimeoutMs: number): Promise<Stores> {
  switch (option.kind) {
    case 'memory':
      return { documents: sqliteDocuments(undefined, writeTimeoutMs), events: memoryStore() }
    case 'sqlite': {
      const { filename } = option
      // First the log, whose errors say how to mend a driver that cannot be loaded.
      const events = sqliteStore({ filename })
      return { events, documents: sqliteDocuments(serviceFile(filename), writeTimeoutMs) }
    }
    case 'postgres': {
      const { connectionString } = option
      const documents = await postgresDocuments(connectionString)
      return { documents, events: postgresStore({ connectionString }) }
    }
  }
}
