import pg from 'pg'
import type { Clock, EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { tempDir } from '../../support/temp.js'

/* The place of a log that is archived: an SQLite file, or a schema of a Postgres server as `<URL>#<schema>`. */

export const isPostgres = (place: string): boolean => place.startsWith('postgres')

export function openPlace(place: string, clock: Clock): EventStore {
  if (!isPostgres(place)) return sqliteStore({ filename: place, clock })
  const [connectionString, schema] = place.split('#') as [string, string]
  return postgresStore({ connectionString, schema, partitions: 'day', clock })
}

/** A new place, and functions for its use. */
export interface Place {
  readonly name: string
  /** Waits until the server has ended the requests of a process that was killed. */
  settled(): Promise<void>
  remove(): Promise<void>
}

export function sqlitePlace(): Place {
  const temp = tempDir()
  return {
    name: temp.file('audit.db'),
    settled: async () => {},
    remove: async () => temp.remove(),
  }
}

let schemas = 0

/** A place on the server that no other process uses. */
export function postgresPlace(url: string): Place {
  const schema = `archived_${schemas++}`
  const run = async (text: string): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(text)
    await client.end()
    return rows
  }
  const isBusy = `SELECT FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`
  return {
    name: `${url}#${schema}`,
    async settled() {
      while ((await run(isBusy)).length > 0);
    },
    remove: async () => void (await run(`DROP SCHEMA ${schema} CASCADE`)),
  }
}
