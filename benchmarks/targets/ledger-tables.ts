import Database from 'better-sqlite3'
import pg from 'pg'
import type { StoreSetup } from '../harness/open-store.js'

/* The tables of a log as its driver alone reads them. */

const PAGE = 512

const SQLITE_ROWS = `SELECT created_at, suffix, type, username, source, system, json(attributes)
  FROM daybook_events WHERE created_at > ? ORDER BY created_at LIMIT ${PAGE}`
const SQLITE_BYTES = `SELECT sum(pgsize) FROM dbstat WHERE name LIKE '%daybook_ledger%'`

const POSTGRES_ROWS = `SELECT created_at, suffix, type, username, source, system, attributes::text
  FROM daybook.events WHERE created_at > $1 ORDER BY created_at LIMIT ${PAGE}`
const POSTGRES_BYTES = `SELECT sum(pg_total_relation_size(oid)) FROM pg_class
  WHERE relnamespace = 'daybook'::regnamespace AND relkind = 'r' AND relname LIKE 'ledger_%'`

/** Reads a page of rows after a time. The time of a row is its first value. */
type ReadPage = (after: unknown) => Promise<readonly (readonly unknown[])[]>

async function readAll(page: ReadPage): Promise<number> {
  let count = 0
  for (let after: unknown = 0; ;) {
    const rows = await page(after)
    count += rows.length
    if (rows.length < PAGE) return count
    after = rows.at(-1)![0]
  }
}

async function withClient<Result>(
  url: string,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

/** Reads all events in pages, and returns their number. */
export async function plainRead(place: StoreSetup): Promise<number> {
  if (place.store === 'postgres')
    return withClient(place.url, (client) =>
      readAll(async (after) => {
        const query = { text: POSTGRES_ROWS, values: [after], rowMode: 'array', name: 'page' }
        return (await client.query<unknown[]>(query)).rows
      }),
    )
  const database = new Database(place.filename, { readonly: true })
  const rows = database.prepare(SQLITE_ROWS).raw(true)
  const count = await readAll(async (after) => rows.all(after) as unknown[][])
  database.close()
  return count
}

/** Bytes of the tables of the ledger with their indexes. */
export async function ledgerBytes(place: StoreSetup): Promise<number> {
  if (place.store === 'postgres')
    return withClient(place.url, async (client) => {
      const { rows } = await client.query<{ sum: string }>(POSTGRES_BYTES)
      return Number(rows[0]!.sum)
    })
  const database = new Database(place.filename, { readonly: true })
  const bytes = database.prepare(SQLITE_BYTES).pluck().get() as number
  database.close()
  return bytes
}
