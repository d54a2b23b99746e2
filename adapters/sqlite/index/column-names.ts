import { LRUCache } from 'lru-cache'
import { admittedColumns } from '../../../src/store-kit/index-builder/column-numbers.js'
import type { NumberedColumn } from '../../../src/store-kit/index-builder/index-driver.js'
import type { Column } from '../../../src/store-kit/index/column-table.js'
import type { Connection } from '../connection/connection.js'
import type { DriverContext } from './driver-context.js'

/** The numbers that the index uses for names of attributes. */
export interface ColumnNames {
  /** `undefined` for a name that no segment has. */
  find(name: string): number | undefined
}

const MAX_CACHED = 2000

/** Names that one transaction adds. */
const MAX_ADDED = 500

const caches = new WeakMap<Connection, ColumnNames>()

/** The names of the connection's file. The number of a name never changes. */
export function columnNames(connection: Connection): ColumnNames {
  const cached = caches.get(connection)
  if (cached) return cached
  const ids = new LRUCache<string, number>({ max: MAX_CACHED })
  const names: ColumnNames = {
    find(name) {
      const cachedId = ids.get(name)
      if (cachedId !== undefined) return cachedId
      const row = connection.statement('SELECT id FROM daybook_names WHERE name = ?').get(name)
      const id = (row as { readonly id: number } | undefined)?.id
      if (id !== undefined) ids.set(name, id)
      return id
    },
  }
  caches.set(connection, names)
  return names
}

// No name is ever removed.
const COUNT_NAMES = 'SELECT coalesce(max(id), 0) AS numbered FROM daybook_names'

/** Gives names numbers that they keep. */
export async function numberColumns(
  { connection, write }: DriverContext,
  columns: readonly Column[],
): Promise<readonly NumberedColumn[]> {
  const names = columnNames(connection)
  const unknown = columns.filter(({ name }) => names.find(name) === undefined)
  const { numbered } = connection.statement(COUNT_NAMES).get() as { readonly numbered: number }
  const added = admittedColumns(unknown, numbered)
  for (let from = 0; from < added.length; from += MAX_ADDED) {
    const some = added.slice(from, from + MAX_ADDED)
    await write(() => {
      const insert = connection.statement('INSERT OR IGNORE INTO daybook_names (name) VALUES (?)')
      for (const { name } of some) insert.run(name)
    })
  }
  return columns.flatMap((column) => {
    const number = names.find(column.name)
    return number === undefined ? [] : [[number, column] as const]
  })
}

/** The names of the numbers. */
export const namesOf = ({ statement }: Connection, numbers: readonly number[]): readonly string[] =>
  numbers.map((number) => {
    const row = statement('SELECT name FROM daybook_names WHERE id = ?').get(number)
    return (row as { readonly name: string }).name
  })
