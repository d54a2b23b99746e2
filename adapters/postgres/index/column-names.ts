import { isStorableText } from '../../../src/event/json-copy.js'
import { admittedColumns } from '../../../src/store-kit/index-builder/column-numbers.js'
import type { NumberedColumn } from '../../../src/store-kit/index-builder/index-driver.js'
import type { Column } from '../../../src/store-kit/index/column-table.js'
import { ask, runInTransaction, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import type { DriverContext } from './driver-context.js'

/** Names that one transaction adds. */
const MAX_ADDED = 1000

/**
 * Gives names numbers that they keep. Numbers are not cached, as a server that takes over after a failure
 * may lack the latest names.
 */
export async function numberColumns(
  { names, run }: DriverContext,
  columns: readonly Column[],
): Promise<readonly NumberedColumn[]> {
  const numbered: NumberedColumn[] = []
  for (let from = 0; from < columns.length; from += MAX_ADDED) {
    const some = columns.slice(from, from + MAX_ADDED).filter(({ name }) => isStorableText(name))
    const byName = new Map(some.map((column) => [column.name, column]))
    const rows = await run((client) => numberNames(client, names, some))
    for (const [name, number] of rows) numbered.push([number, byName.get(name)!])
  }
  return numbered
}

async function numberNames(
  client: PostgresPoolClient,
  names: Names,
  columns: readonly Column[],
): Promise<[name: string, number: number][]> {
  const wanted = columns.map(({ name }) => name)
  const known = await findNames(client, names, wanted)
  if (known.length === columns.length) return known
  const { attributeNames, locks } = names
  await runInTransaction(client, async () => {
    // The index of names is not unique, because names may be too long for a unique index.
    await ask(client, `SELECT pg_advisory_xact_lock(${locks.names})`)
    const there = new Set((await findNames(client, names, wanted)).map(([name]) => name))
    const unknown = columns.filter(({ name }) => !there.has(name))
    const [count] = await ask(client, `SELECT coalesce(max(id), 0) FROM ${attributeNames}`)
    await ask(
      client,
      `INSERT INTO ${attributeNames} (name) SELECT unnest($1::text[])`,
      admittedColumns(unknown, Number(count![0])).map(({ name }) => name),
    )
  })
  return findNames(client, names, wanted)
}

/** The names of the numbers, in the same order. */
export async function namesOf(
  { names, run }: DriverContext,
  numbers: readonly number[],
): Promise<readonly string[]> {
  if (numbers.length === 0) return []
  const rows = await run((client) =>
    ask(
      client,
      `SELECT id, name FROM ${names.attributeNames} WHERE id = ANY ($1::int4[])`,
      numbers,
    ),
  )
  const byNumber = new Map(rows.map(([id, name]) => [Number(id), name!]))
  return numbers.map((number) => byNumber.get(number)!)
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
