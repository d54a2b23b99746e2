import { expect, it } from 'vitest'
import type { PostgresPoolClient } from '../../../adapters/postgres/connection/client.js'
import { namingTable, UnreadableTable } from '../../../adapters/postgres/connection/unreadable.js'

/** Parameters of the search for the table, after an error with this message. */
async function lookedFor(
  message: string,
): Promise<{ readonly file: unknown; readonly names: unknown }> {
  let asked: readonly unknown[] = []
  const query = async ({ values }: { readonly values: readonly unknown[] }) => {
    if (values.length > 0) asked = values
    return { rows: values.length > 0 ? [['audit', 'segments']] : [] }
  }
  const error = Object.assign(new Error(message), { code: 'XX002', severity: 'ERROR' })
  const named = await namingTable({ query } as unknown as PostgresPoolClient, error)
  expect(named).toBeInstanceOf(UnreadableTable)
  return { file: asked[0], names: asked[1] }
}

it.each([
  ['invalid page in block 3 of relation "base/16384/16390"', '16390'],
  ['invalid page in block 3 of relation base/16384/16390', '16390'],
  ['ungültige Seite in Block 3 von Relation „base/16384/16390“', '16390'],
  ['página no válida en el bloque 3 de la relación «pg_tblspc/16400/PG_18/16384/16390»', '16390'],
])('the file is found in %s', async (message, file) => {
  expect(await lookedFor(message)).toEqual({ file, names: [] })
})

it.each([
  ['index "segments_pkey" contains unexpected zero page at block 0', 'segments_pkey'],
  ['Index »segments_pkey« enthält unerwartete Nullseite bei Block 0', 'segments_pkey'],
  ['Index „segments_pkey“ enthält unerwartete Nullseite bei Block 0', 'segments_pkey'],
  ["l'index « segments_pkey » contient une page zéro inattendue au bloc 0", 'segments_pkey'],
  ['インデックス"segments_pkey"のブロック0に予期しないゼロページがあります', 'segments_pkey'],
  ['missing chunk number 0 for toast value 16999 in pg_toast_16390', 'pg_toast_16390'],
  ['chunk-Nummer 0 fehlt für Toast-Wert 16999 in pg_toast_16390', 'pg_toast_16390'],
])('the name is among the words of %s', async (message, name) => {
  expect((await lookedFor(message)).names).toContain(name)
})
