import type { EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import type { manualClock } from 'daybook/testing'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { tempDir } from '../../support/temp.js'

export type ManualClock = ReturnType<typeof manualClock>

/** Opens stores of one kind. */
export interface Stores {
  /** A new store without events. */
  open(clock: ManualClock): EventStore
  /** Another store on the events of the last one opened, as in another process. */
  another(clock: ManualClock): EventStore
  /** Removes their files and schemas. */
  remove(): Promise<void>
}

/** By kind of store. */
export const STORES: Readonly<Record<string, () => Promise<Stores>>> = {
  async memory() {
    let store: EventStore
    return {
      open: (clock) => (store = memoryStore({ clock })),
      another: () => ({ ...store, async close() {} }),
      async remove() {},
    }
  },
  async sqlite() {
    const temp = tempDir()
    let files = 0
    const another = (clock: ManualClock): EventStore =>
      sqliteStore({ filename: temp.file(`audit-${files}.db`), clock })
    return {
      open(clock) {
        files++
        return another(clock)
      },
      another,
      remove: async () => temp.remove(),
    }
  },
  async postgres() {
    const database: TestDatabase = await postgresDatabase()
    let schemas = 0
    const another = (clock: ManualClock): EventStore =>
      postgresStore({
        connectionString: database.url,
        schema: `cleaning_${schemas}`,
        clock,
        partitions: 'none',
      })
    return {
      open(clock) {
        schemas++
        return another(clock)
      },
      another,
      remove: () => database.remove(),
    }
  },
}
