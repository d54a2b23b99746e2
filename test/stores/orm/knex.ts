import { fromKnex } from 'daybook/orm'
import knexOf, { type Knex } from 'knex'
import type { Library, LibraryUnderTest, Scope } from './library.js'

const scope = (trx: Knex.Transaction): Scope => ({
  handle: () => fromKnex(trx),
  insertOrder: async (n) => trx('orders').insert({ n }),
  savepoint: async (act) => trx.transaction(async (inner) => void (await act(scope(inner)))),
})

export const knex: LibraryUnderTest = {
  name: 'Knex',
  nests: true,
  async open(place): Promise<Library> {
    const db = knexOf(
      'url' in place
        ? { client: 'pg', connection: place.url }
        : { client: 'better-sqlite3', connection: place, useNullAsDefault: true },
    )
    return {
      transaction: async (act) => db.transaction(async (trx) => void (await act(scope(trx)))),
      outside: {
        // @ts-expect-error The compiler refuses an instance too.
        'a Knex instance': () => fromKnex(db),
        'the instance itself': () => db,
      },
      close: () => db.destroy(),
    }
  },
}
