import { LRUCache } from 'lru-cache'
import type { NumberedColumns } from '../../../src/store-kit/index-builder/index-driver.js'
import type { Extract } from '../../../src/store-kit/index/extract.js'
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

/** Gives each name a number that it keeps. */
export async function numberColumns(
  { connection, write }: DriverContext,
  { columns: { byName }, unindexed }: Extract,
): Promise<NumberedColumns> {
  const names = columnNames(connection)
  const unknown = [...byName.keys()].filter((name) => names.find(name) === undefined)
  for (let from = 0; from < unknown.length; from += MAX_ADDED) {
    const some = unknown.slice(from, from + MAX_ADDED)
    await write(() => {
      const insert = connection.statement('INSERT OR IGNORE INTO daybook_names (name) VALUES (?)')
      for (const name of some) insert.run(name)
    })
  }
  const columns = Array.from(byName, ([name, column]) => [names.find(name)!, column] as const)
  return { columns: columns.toSorted(([a], [b]) => a - b), unindexed }
}
