import type { Clock, EventStore } from 'daybook'
import type { QueryTimeoutOptions } from '../../src/store/query-timeout.js'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import type { StoreOption } from '../../examples/workflow-service/options.js'
import { postgresDatabase } from './database.js'
import { tempDir } from './temp.js'

/** A place for the events of one test, initially empty. */
export interface EventPlace {
  open(clock?: Clock, options?: QueryTimeoutOptions): EventStore
  /** The same place as a value of DAYBOOK_STORE. */
  readonly demo: StoreOption
  /** Call it after everything that uses the place is closed. */
  remove(): void | Promise<void>
}

export type CreatePlace = () => EventPlace | Promise<EventPlace>

const PLACES = {
  memory: () => ({
    open: (clock, options) => memoryStore({ ...options, ...(clock && { clock }) }),
    demo: { kind: 'memory' },
    remove() {},
  }),
  SQLite() {
    const { file, remove } = tempDir()
    const filename = file('audit.db')
    return {
      open: (clock, options) => sqliteStore({ filename, ...options, ...(clock && { clock }) }),
      demo: { kind: 'sqlite', filename },
      remove,
    }
  },
  async Postgres() {
    const { url: connectionString, remove } = await postgresDatabase()
    return {
      open: (clock, options) =>
        postgresStore({ connectionString, ...options, ...(clock && { clock }) }),
      demo: { kind: 'postgres', connectionString },
      remove,
    }
  },
} as const satisfies Record<string, CreatePlace>

/** The place of a feature that works alike on all stores. */
export const memoryPlace: CreatePlace = PLACES.memory

/** The place of a feature of several processes, or of queries that can be cancelled. */
export const sqlitePlace: CreatePlace = PLACES.SQLite

/** The kinds of stores for `describe.each`: the name, and a function that creates a place. */
export const eachStore: readonly (readonly [name: string, create: CreatePlace])[] =
  Object.entries(PLACES)
