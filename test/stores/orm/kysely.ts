import Database from 'better-sqlite3'
import { fromKysely } from 'daybook/orm'
import {
  CamelCasePlugin,
  type ControlledTransaction,
  Kysely,
  PostgresDialect,
  SqliteDialect,
  type Transaction,
} from 'kysely'
import pg from 'pg'
import type { Library, LibraryUnderTest, Place, Scope } from './library.js'

interface Tables {
  readonly orders: { readonly n: number }
}

const openKysely = (place: Place): Kysely<Tables> =>
  new Kysely<Tables>({
    dialect:
      'url' in place
        ? new PostgresDialect({ pool: new pg.Pool({ connectionString: place.url }) })
        : new SqliteDialect({ database: new Database(place.filename) }),
    // Renames the columns of results.
    plugins: [new CamelCasePlugin()],
  })

const insertOrder = (trx: Transaction<Tables>, n: number): Promise<unknown> =>
  trx.insertInto('orders').values({ n }).execute()

/** Kysely begins savepoints in transactions that the caller ends. */
const controlled = (trx: ControlledTransaction<Tables, string[]>, depth = 0): Scope => ({
  handle: () => fromKysely(trx),
  insertOrder: (n) => insertOrder(trx, n),
  async savepoint(act) {
    const name = `nested_${depth}`
    const inner = await trx.savepoint(name).execute()
    try {
      await act(controlled(inner, depth + 1))
      await inner.releaseSavepoint(name).execute()
    } catch (error) {
      await inner.rollbackToSavepoint(name).execute()
      throw error
    }
  },
})

export const kyselyControlled: LibraryUnderTest = {
  name: 'Kysely with startTransaction',
  nests: true,
  async open(place): Promise<Library> {
    const db = openKysely(place)
    return {
      async transaction(act) {
        const trx = await db.startTransaction().execute()
        try {
          await act(controlled(trx))
          await trx.commit().execute()
        } catch (error) {
          await trx.rollback().execute()
          throw error
        }
      },
      // @ts-expect-error The compiler refuses an instance too.
      outside: { 'a Kysely instance': () => fromKysely(db) },
      close: () => db.destroy(),
    }
  },
}

export const kysely: LibraryUnderTest = {
  name: 'Kysely',
  nests: false,
  async open(place): Promise<Library> {
    const db = openKysely(place)
    const scope = (trx: Transaction<Tables>): Scope => ({
      handle: () => fromKysely(trx),
      insertOrder: (n) => insertOrder(trx, n),
      savepoint: () => Promise.reject(new Error('Kysely nests only controlled transactions')),
    })
    return {
      transaction: (act) => db.transaction().execute(async (trx) => void (await act(scope(trx)))),
      // @ts-expect-error The compiler refuses an instance too.
      outside: { 'a Kysely instance': () => fromKysely(db) },
      close: () => db.destroy(),
    }
  },
}
