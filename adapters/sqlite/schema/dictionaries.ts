import { perObject } from '../../../src/store/per-object.js'
import { LRUCache } from 'lru-cache'
import { bytesChecksum } from '../../../src/store-kit/index/checksums.js'
import type { Connection } from '../connection/connection.js'
import { isCorrupt } from '../connection/database.js'

/*
 * Texts that many events have in common, with which the attributes of each event are compressed alone. Without its
 * dictionary an event cannot be read, so each one is stored twice, in two tables.
 */

export const DICTIONARY_TABLES = ['daybook_dictionaries', 'daybook_dictionary_copies'] as const

type DictionaryTable = (typeof DICTIONARY_TABLES)[number]

const SELECT = (table: DictionaryTable): string =>
  `SELECT data, checksum FROM ${table} WHERE id = ?`

export const dictionaryChecksum = (id: number, data: Uint8Array): number =>
  bytesChecksum(data, String(id))

/** Returns the stored dictionary; `undefined` if it is missing or damaged. */
export function storedDictionary(
  { statement }: Connection,
  table: DictionaryTable,
  id: number,
): Uint8Array | undefined {
  try {
    const found = statement(SELECT(table)).get(id)
    if (!found) return undefined
    const { data, checksum } = found as { readonly data: Uint8Array; readonly checksum: number }
    return dictionaryChecksum(id, data) === checksum ? data : undefined
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return undefined
  }
}

/** Half a megabyte. */
const MAX_CACHED = 64

const cacheOf = perObject<Connection, LRUCache<number, Uint8Array>>(
  () => new LRUCache({ max: MAX_CACHED }),
)

/** The dictionary with this id, which never changes; `undefined` if both copies are damaged. */
export function readDictionary(connection: Connection, id: number): Uint8Array | undefined {
  const cache = cacheOf(connection)
  const known = cache.get(id)
  if (known) return known
  for (const table of DICTIONARY_TABLES) {
    const found = storedDictionary(connection, table, id)
    if (!found) continue
    cache.set(id, found)
    return found
  }
  return undefined
}
