import path from 'node:path'
import type { Clock, EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore, type SqliteStoreOptions } from 'daybook/sqlite'
import { withPostgres } from './postgres-server.js'
import { withTempFolder } from './temp.js'

/** Where a process finds its store; can be sent to it as JSON. */
export type StoreSetup =
  | { readonly store: 'memory' }
  | {
      readonly store: 'sqlite'
      readonly filename: string
      readonly compression?: SqliteStoreOptions['compression']
    }
  | {
      readonly store: 'postgres'
      readonly url: string
      /** Follows the clock of the server, whatever clock is given. */
      readonly hasServerTime?: boolean
    }

export type StoreName = StoreSetup['store']
export type DurableSetup = Exclude<StoreSetup, { readonly store: 'memory' }>

export const storeTitles: { readonly [store in StoreName]: string } = {
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
      return sqliteStore({
        filename: setup.filename,
        compression: setup.compression ?? 'none',
        ...time,
      })
    case 'postgres':
      return postgresStore({ connectionString: setup.url, ...(setup.hasServerTime ? {} : time) })
  }
}

/** Calls `use` with an empty store on disk, which is removed afterwards. */
export function withDurableStore<Result>(
  store: DurableSetup['store'],
  use: (setup: DurableSetup) => Promise<Result>,
): Promise<Result> {
  if (store === 'postgres') return withPostgres((url) => use({ store, url }))
  return withTempFolder((folder) => use({ store, filename: path.join(folder, 'benchmark.db') }))
}

/** Calls `use` with an empty store of each kind, which are removed afterwards. */
export function withEachStore<Result>(
  use: (setups: Readonly<Record<StoreName, StoreSetup>>) => Promise<Result>,
): Promise<Result> {
  return withDurableStore('sqlite', (sqlite) =>
    withDurableStore('postgres', (postgres) =>
      use({ memory: { store: 'memory' }, sqlite, postgres }),
    ),
  )
}
