import Database from 'better-sqlite3'
import { fromDrizzle } from 'daybook/orm'
import { drizzle as sqliteOf } from 'drizzle-orm/better-sqlite3'
import { drizzle as postgresOf } from 'drizzle-orm/node-postgres'
import * as postgres from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import pg from 'pg'
import type { Library, LibraryUnderTest, Scope } from './library.js'

const sqliteOrders = sqlite.sqliteTable('orders', { n: sqlite.integer() })
const postgresOrders = postgres.pgTable('orders', { n: postgres.integer() })

function openSqlite(filename: string): Library {
  const client = new Database(filename)
  const db = sqliteOf(client)
  type Transaction = Parameters<Parameters<typeof db.transaction>[0]>[0]
  const scope = (tx: Transaction): Scope => ({
    handle: () => fromDrizzle(tx),
    insertOrder: (n) => tx.insert(sqliteOrders).values({ n }).run(),
    savepoint: (act) => tx.transaction((inner) => act(scope(inner))),
  })
  return {
    isSynchronous: true,
    transaction: async (act) => db.transaction((tx) => act(scope(tx))),
    outside: {
      // @ts-expect-error The compiler refuses a database too.
      'a database': () => fromDrizzle(db),
      'the database itself': () => db,
    },
    close: async () => client.close(),
  }
}

function openPostgres(url: string): Library {
  const pool = new pg.Pool({ connectionString: url })
  const db = postgresOf(pool)
  type Transaction = Parameters<Parameters<typeof db.transaction>[0]>[0]
  const scope = (tx: Transaction): Scope => ({
    handle: () => fromDrizzle(tx),
    insertOrder: async (n) => tx.insert(postgresOrders).values({ n }),
    savepoint: (act) => tx.transaction(async (inner) => act(scope(inner))),
  })
  return {
    transaction: (act) => db.transaction(async (tx) => act(scope(tx))),
    outside: {
      // @ts-expect-error The compiler refuses a database too.
      'a database': () => fromDrizzle(db),
      'the database itself': () => db,
      'its client': () => db.$client,
    },
    close: () => pool.end(),
  }
}

export const drizzle: LibraryUnderTest = {
  name: 'Drizzle',
  nests: true,
  open: async (place) => ('url' in place ? openPostgres(place.url) : openSqlite(place.filename)),
}
