import path from 'node:path'
import type { Clock, LogStores } from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { postgresLogs, postgresStore } from 'daybook/postgres'
import { sqliteLogs, sqliteStore } from 'daybook/sqlite'
import { createMemoryStore } from '../../../adapters/memory/memory-store.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import type { OpenedStore } from '../../support/concealed-servers.js'

/*
 * The kinds of stores for the few events of `concealed.ts`: as services open them, so that queries test each event, and with
 * parts of the index that are so small that queries use it.
 */

/** The location of a new log. */
export interface Location {
  readonly folder: string
  /** The URL of a Postgres database. */
  readonly url: string
  readonly name: string
  readonly options: { readonly clock?: Clock }
}

export type Place =
  | { readonly kind: string; readonly open: (at: Location) => OpenedStore }
  | { readonly kind: string; readonly openLogs: (at: Location) => LogStores }

const tuning = { segmentSize: 8, fanOut: 3, minGramChunks: 1 }

export const PLACES: readonly Place[] = [
  { kind: 'memory', open: ({ options }) => ({ store: memoryStore(options) }) },
  {
    kind: 'memory',
    open: ({ options }) => ({ store: createMemoryStore(options, { minIndexed: 0, probe: 0 }) }),
  },
  { kind: 'memory', openLogs: ({ options }) => memoryLogs(options) },
  {
    kind: 'sqlite',
    open: ({ folder, name, options }) => ({
      store: sqliteStore({ filename: path.join(folder, name), ...options }),
    }),
  },
  {
    kind: 'sqlite',
    open({ folder, name, options }) {
      const given = { filename: path.join(folder, name), ...options }
      const { store, sealer } = createSqliteStore(given, { tuning }, { firstProbe: 0 })
      return { store, settled: () => sealer.settled() }
    },
  },
  {
    kind: 'sqlite',
    openLogs: ({ folder, name, options }) =>
      sqliteLogs({ directory: path.join(folder, name), ...options }),
  },
  {
    kind: 'postgres',
    open: ({ url, name, options }) => ({
      store: postgresStore({ connectionString: url, schema: name, ...options }),
    }),
  },
  {
    kind: 'postgres',
    open({ url, name, options }) {
      const given = { connectionString: url, schema: name, partitions: 'none', ...options } as const
      const reading = { firstProbe: 0, minIndexed: 0 }
      const { store, sealer } = createPostgresStore(given, { tuning }, reading)
      return { store, settled: () => sealer.settled() }
    },
  },
  {
    kind: 'postgres',
    openLogs: ({ url, name, options }) =>
      postgresLogs({ connectionString: url, schemaPrefix: `${name}_`, ...options }),
  },
]
