import type { Clock, EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'

/** A store for the process of a trial. */
export type StoreSetup =
  | { readonly store: 'memory' }
  | { readonly store: 'sqlite'; readonly filename: string }
  | { readonly store: 'postgres'; readonly url: string }

export const storeNames: { readonly [store in StoreSetup['store']]: string } = {
  memory: 'memory',
  sqlite: 'SQLite',
  postgres: 'Postgres',
}

export function openStore(setup: StoreSetup, clock?: Clock): EventStore {
  const time = clock ? { clock } : {}
  switch (setup.store) {
    case 'memory':
      return memoryStore(time)
    case 'sqlite':
      return sqliteStore({ filename: setup.filename, ...time })
    case 'postgres':
      return postgresStore({ connectionString: setup.url, ...time })
  }
}
