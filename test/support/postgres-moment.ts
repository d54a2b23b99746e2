import pg from 'pg'
import { begin, type PostgresPoolClient } from '../../adapters/postgres/connection/client.js'
import { createAsk } from '../../adapters/postgres/connection/connection.js'
import type { Snapshot } from '../../adapters/postgres/log/snapshot.js'

/** A snapshot like that of the store's reader. It stays open until `end`. */
export interface Moment extends Pick<Snapshot, 'ask' | 'checkTime'> {
  /** The statements that were run. */
  readonly statements: readonly string[]
  end(): Promise<void>
}

export async function takeMoment(connectionString: string): Promise<Moment> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const own = client as unknown as PostgresPoolClient
  await begin(own, 'REPEATABLE READ READ ONLY', {
    first: 'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off',
  })
  const statements: string[] = []
  const ask = createAsk(own)
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
