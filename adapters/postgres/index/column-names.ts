import type { Column } from '../../../src/store-kit/index/columns.js'
import type { Extract } from '../../../src/store-kit/index/extract.js'
import { ask, inTransaction, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import type { Steps } from './steps.js'

/** The columns by the numbers of their names, in the order of these. */
export interface NumberedColumns {
  readonly columns: readonly (readonly [number: number, column: Column])[]
  readonly unindexed: readonly number[]
}

// Names that one transaction adds.
const MOST_NAMES = 1000

/**
 * Numbers the names of attributes, for good. Nothing is remembered of earlier calls, as a server that takes over
 * for one that died may not have all of its last names.
 */
export async function numberColumns(
  { names, run }: Steps,
  { columns: { byName }, unindexed }: Extract,
): Promise<NumberedColumns> {
  const all = [...byName.keys()].filter(isText)
  const columns: (readonly [number, Column])[] = []
  for (let from = 0; from < all.length; from += MOST_NAMES) {
    const some = all.slice(from, from + MOST_NAMES)
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

/** No text of Postgres has a U+0000: whoever has an attribute with one in its name may have anything. */
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
    // The index of names holds no two apart, as those may be too long for one that does.
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
