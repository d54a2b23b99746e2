import type { EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import type { manualClock } from 'daybook/testing'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { openLogSchemas } from '../../support/log-schemas.js'
import { tempDir } from '../../support/temp.js'

export type ManualClock = ReturnType<typeof manualClock>

/** Opens stores of one kind. */
export interface Stores {
  /** A new store without events. All stores on these events must be closed, including the last opened one. */
  open(clock: ManualClock): Promise<EventStore>
  /** Another store on the events of the last one opened, as in another process. */
  another(clock: ManualClock): EventStore
  /** Removes their files and schemas. */
  remove(): Promise<void>
}

/** Functions that open a store, by kind of store. */
export const STORES: Readonly<Record<string, () => Promise<Stores>>> = {
  async memory() {
    let store: EventStore
    return {
      open: async (clock) => (store = memoryStore({ clock })),
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
      async open(clock) {
        files++
        return another(clock)
      },
      another,
      remove: async () => temp.remove(),
    }
  },
  async postgres() {
    const database: TestDatabase = await postgresDatabase()
    const schemas = await openLogSchemas(database.url, 'cleaning_')
    let schema: string | undefined
    const openOn = (schema: string, clock: ManualClock): EventStore => {
      const url = new URL(database.url)
      url.searchParams.set('application_name', schema)
      return postgresStore({ connectionString: url.href, schema, clock, partitions: 'none' })
    }
    return {
      async open(clock) {
        if (schema !== undefined) await schemas.giveBack(schema)
        const opened = await schemas.open((name) => openOn(name, clock))
        schema = opened.schema
        return opened.store
      },
      another: (clock) => openOn(schema!, clock),
      async remove() {
        await schemas.close()
        await database.remove()
      },
    }
  },
}
