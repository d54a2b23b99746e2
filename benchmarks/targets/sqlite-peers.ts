import { createRequire } from 'node:module'
import type Driver from 'better-sqlite3'
import type { SampleEvent } from '../harness/sample-events.js'
import { requirePeer } from '../harness/peers.js'

/*
 * Other libraries that insert an event per call into SQLite with WAL and `synchronous=FULL`. Types are
 * declared as far as they are used here.
 */

export type SqlitePeer = 'knex' | 'typeorm' | 'emmett'

export interface OpenPeer {
  /** Resolves when the event is durable. */
  insert(event: SampleEvent, caller: number): Promise<unknown>
  /** The number of stored events. */
  count(): Promise<number>
  close(): Promise<unknown>
}

interface Row {
  readonly type: string
  readonly username: string
  readonly created_at: number
  readonly attributes: string
}

const rowOf = ({ type, username, data }: SampleEvent): Row => ({
  type,
  username,
  created_at: Date.now() * 1000,
  attributes: JSON.stringify(data),
})

function setDurable(database: { pragma(text: string): unknown }): void {
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
}

interface Knex {
  (table: string): {
    insert(row: Row): Promise<unknown>
    count(of: { readonly count: string }): Promise<readonly { readonly count: number }[]>
  }
  readonly schema: { raw(text: string): Promise<unknown> }
  destroy(): Promise<void>
}

const TABLE = `CREATE TABLE events (id INTEGER PRIMARY KEY, type TEXT NOT NULL, username TEXT,
  created_at INTEGER NOT NULL, attributes TEXT NOT NULL)`

async function openKnex(filename: string): Promise<OpenPeer> {
  const createKnex = requirePeer('knex') as (options: object) => Knex
  const knex = createKnex({
    client: 'better-sqlite3',
    connection: { filename },
    useNullAsDefault: true,
    pool: {
      afterCreate(connection: Driver.Database, done: (error: null, of: unknown) => void) {
        setDurable(connection)
        done(null, connection)
      },
    },
  })
  await knex.schema.raw(TABLE)
  return {
    insert: (event) => knex('events').insert(rowOf(event)),
    count: async () => (await knex('events').count({ count: '*' }))[0]!.count,
    close: () => knex.destroy(),
  }
}

interface TypeOrm {
  readonly DataSource: new (options: object) => {
    initialize(): Promise<unknown>
    getRepository(name: string): {
      insert(row: Row): Promise<unknown>
      count(): Promise<number>
    }
    destroy(): Promise<void>
  }
  readonly EntitySchema: new (options: object) => object
}

async function openTypeOrm(filename: string): Promise<OpenPeer> {
  const { DataSource, EntitySchema } = requirePeer('typeorm') as TypeOrm
  const entity = new EntitySchema({
    name: 'events',
    columns: {
      id: { type: 'integer', primary: true, generated: true },
      type: { type: 'text' },
      username: { type: 'text', nullable: true },
      created_at: { type: 'integer' },
      attributes: { type: 'text' },
    },
  })
  const source = new DataSource({
    type: 'better-sqlite3',
    driver: createRequire(import.meta.url)('better-sqlite3'),
    database: filename,
    synchronize: true,
    entities: [entity],
    prepareDatabase: setDurable,
  })
  await source.initialize()
  const events = source.getRepository('events')
  return {
    insert: (event) => events.insert(rowOf(event)),
    count: () => events.count(),
    close: () => source.destroy(),
  }
}

interface EmmettConnection {
  querySingle(text: string): Promise<Readonly<Record<string, number>>>
  command(text: string): Promise<unknown>
  close(): void
}

interface EmmettSqlite {
  sqliteConnection(options: { readonly fileName: string }): EmmettConnection
  getSQLiteEventStore(options: object): {
    readonly schema: { migrate(): Promise<void> }
    appendToStream(
      stream: string,
      events: readonly { readonly type: string; readonly data: object }[],
    ): Promise<unknown>
  }
}

/**
 * Each caller appends to its own stream. All calls share one connection, one after the other: with the
 * connections that emmett opens by itself, one per call, some calls fail with SQLITE_BUSY.
 */
async function openEmmett(fileName: string): Promise<OpenPeer> {
  const emmett = requirePeer('@event-driven-io/emmett-sqlite') as EmmettSqlite
  const connection = emmett.sqliteConnection({ fileName })
  await connection.command('PRAGMA synchronous = FULL')
  const store = emmett.getSQLiteEventStore({
    fileName,
    schema: { autoMigration: 'None' },
    connectionOptions: { connection, singleton: true },
  })
  await store.schema.migrate()
  let last: Promise<unknown> = Promise.resolve()
  return {
    insert({ type, username, data }, caller) {
      const event = { type, data: { ...data, username } }
      last = last.then(() => store.appendToStream(`stream-${caller}`, [event]))
      return last
    },
    count: async () =>
      (await connection.querySingle('SELECT count(*) AS count FROM emt_messages'))['count']!,
    close: async () => connection.close(),
  }
}

const OPEN: { readonly [peer in SqlitePeer]: (filename: string) => Promise<OpenPeer> } = {
  knex: openKnex,
  typeorm: openTypeOrm,
  emmett: openEmmett,
}

export const openSqlitePeer = (peer: SqlitePeer, filename: string): Promise<OpenPeer> =>
  OPEN[peer](filename)
