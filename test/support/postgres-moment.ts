import pg from 'pg'
import { createAsk } from '../../adapters/postgres/connection/connection.js'
import type { Snapshot } from '../../adapters/postgres/log/snapshot.js'

/** A snapshot as the store's reader takes it, which stays open until `end`. */
export interface Moment extends Pick<Snapshot, 'ask' | 'checkTime'> {
  /** The statements that it ran. */
  readonly statements: readonly string[]
  end(): Promise<void>
}

export async function takeMoment(connectionString: string): Promise<Moment> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  // The first statement that reads takes the snapshot.
  await client.query('SELECT FROM pg_class LIMIT 1')
  await client.query('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off')
  const statements: string[] = []
  const ask = createAsk(client as unknown as Parameters<typeof createAsk>[0])
  return {
    ask(text, ...values) {
      statements.push(text)
      return ask(text, ...values)
    },
    checkTime() {},
    statements,
    end: () => client.end(),
  }
}
