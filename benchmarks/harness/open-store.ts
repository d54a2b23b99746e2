import path from 'node:path'
import type { Clock, EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore, type SqliteStoreOptions } from 'daybook/sqlite'
import { withPostgres } from './postgres-server.js'
import { withTempFolder } from './temp.js'

/** Where a process finds its store; can be sent to it as JSON. */
export type StoreSetup =
  | {
      readonly store: 'sqlite'
      readonly filename: string
      readonly compression?: SqliteStoreOptions['compression']
    }
  | { readonly store: 'postgres'; readonly url: string }

export type StoreName = StoreSetup['store']

export const storeTitles: { readonly [store in StoreName]: string } = {
  sqlite: 'SQLite',
  postgres: 'Postgres',
}

export function openStore(setup: StoreSetup, clock?: Clock): EventStore {
  const time = clock ? { clock } : {}
  switch (setup.store) {
    case 'sqlite':
      return sqliteStore({
        filename: setup.filename,
        compression: setup.compression ?? 'none',
        ...time,
      })
    case 'postgres':
      return postgresStore({ connectionString: setup.url, ...time })
  }
}

/** Calls `use` with an empty store on disk, which is removed afterwards. */
export function withDurableStore<Result>(
  store: StoreName,
  use: (setup: StoreSetup) => Promise<Result>,
): Promise<Result> {
  if (store === 'postgres') return withPostgres((url) => use({ store, url }))
  return withTempFolder((folder) => use({ store, filename: path.join(folder, 'benchmark.db') }))
}
