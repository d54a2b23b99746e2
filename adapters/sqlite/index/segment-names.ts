import { LRUCache } from 'lru-cache'
import type { Connection } from '../connection/connection.js'

/** Names of attributes by their numbers in the index. */
export interface SegmentNames {
  /** `undefined` for a name that no segment has. */
  find(name: string): number | undefined
}

const MOST_KNOWN = 2000

const known = new WeakMap<Connection, SegmentNames>()

/** Those of the connection's file; a name that is there is there for good. */
export function segmentNames(connection: Connection): SegmentNames {
  const before = known.get(connection)
  if (before) return before
  const ids = new LRUCache<string, number>({ max: MOST_KNOWN })
  const names: SegmentNames = {
    find(name) {
      const met = ids.get(name)
      if (met !== undefined) return met
      const row = connection.statement('SELECT id FROM daybook_names WHERE name = ?').get(name)
      const id = (row as { readonly id: number } | undefined)?.id
      if (id !== undefined) ids.set(name, id)
      return id
    },
  }
  known.set(connection, names)
  return names
}
