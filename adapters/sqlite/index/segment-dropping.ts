import { isCorrupt } from '../connection/database.js'
import type { DriverContext } from './driver-context.js'
import { rowIds } from './row-ids.js'

/** Rows that one transaction removes. */
const MAX_ROWS = 200

const TABLES = ['daybook_chunks', 'daybook_segment_times']

const DELETE_KEYS = `DELETE FROM daybook_chunk_keys WHERE (segment, name, kind, first, ordinal) IN
  (SELECT segment, name, kind, first, ordinal FROM daybook_chunk_keys WHERE segment = ? LIMIT ${MAX_ROWS})`

export async function deleteChunks(context: DriverContext, id: number): Promise<void> {
  try {
    await deleteRows(context, id)
  } catch (error) {
    // No query reads the remaining rows, because ids are never used again.
    if (!isCorrupt(error)) throw error
  }
}

async function deleteRows({ connection, write }: DriverContext, id: number): Promise<void> {
  const { statement } = connection
  const [from, end] = rowIds(id)
  for (const table of TABLES) {
    const last = statement(`SELECT max(id) AS last FROM ${table} WHERE id >= ? AND id < ?`)
    const row = last.get(from, end) as { readonly last: number | null }
    const remove = `DELETE FROM ${table} WHERE id >= ? AND id < ?`
    for (let at = from; at <= (row.last ?? -1); at += MAX_ROWS)
      await write(() => void statement(remove).run(at, at + MAX_ROWS))
  }
  for (let removed = MAX_ROWS; removed === MAX_ROWS;)
    removed = await write(() => statement(DELETE_KEYS).run(id).changes)
}
