import type { NumberedColumns } from '../../../src/store-kit/index-builder/index-driver.js'
import type { Column } from '../../../src/store-kit/index/columns.js'
import type { Extract } from '../../../src/store-kit/index/extract.js'
import { ask, inTransaction, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import type { DriverContext } from './driver-context.js'

/** Names that one transaction adds. */
const MAX_ADDED = 1000

/**
 * Gives each name a number that it keeps. Numbers are not cached, as a server that takes over after a failure
 * may lack the latest names.
 */
export async function numberColumns(
  { names, run }: DriverContext,
  { columns: { byName }, unindexed }: Extract,
): Promise<NumberedColumns> {
  const all = [...byName.keys()].filter(isText)
  const columns: (readonly [number, Column])[] = []
  for (let from = 0; from < all.length; from += MAX_ADDED) {
    const some = all.slice(from, from + MAX_ADDED)
    const rows = await run((client) => numberNames(client, names, some))
    for (const [name, number] of rows) columns.push([number, byName.get(name)!])
  }
  const unnamed = [...byName.values()].filter(({ name }) => !isText(name))
  const without = unnamed.flatMap(({ ordinals, containers }) => [...ordinals, ...containers])
  return {
    columns: columns.toSorted(([a], [b]) => a - b),
    unindexed: [...new Set([...unindexed, ...without])].toSorted((a, b) => a - b),
  }
}

/** A text of Postgres cannot contain U+0000, so an event with such a name is listed as unindexed. */
const isText = (name: string): boolean => !name.includes('\0')

async function numberNames(
  client: PostgresPoolClient,
  names: Names,
  some: readonly string[],
): Promise<[name: string, number: number][]> {
  const known = await findNames(client, names, some)
  if (known.length === some.length) return known
  const { attributeNames, locks } = names
  await inTransaction(client, async () => {
    // The index of names is not unique, because names may be too long for a unique index.
    await ask(client, `SELECT pg_advisory_xact_lock(${locks.names})`)
    await ask(
      client,
      `INSERT INTO ${attributeNames} (name) SELECT name FROM unnest($1::text[]) AS given(name)
       WHERE NOT EXISTS (SELECT FROM ${attributeNames} AS known WHERE known.name = given.name)`,
      some,
    )
  })
  return findNames(client, names, some)
}

async function findNames(
  client: PostgresPoolClient,
  { attributeNames }: Names,
  some: readonly string[],
): Promise<[name: string, number: number][]> {
  const rows = await ask(
    client,
    `SELECT name, id FROM ${attributeNames} WHERE name = ANY ($1::text[])`,
    some,
  )
  return rows.map(([name, id]) => [name!, Number(id)])
}
