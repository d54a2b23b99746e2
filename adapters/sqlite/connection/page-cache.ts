import { invalidOption } from '../../../src/errors.js'
import type { SqliteDatabase } from './driver-types.js'

const KIB = 1024
const MIB = 1024 * KIB

/** Other pages come from the page cache of the system. With four times as much, no query was faster. */
export const DEFAULT_CACHE_BYTES = 4 * MIB

const MIN_BYTES = MIB
// SQLite takes the number of KiB as an integer of 32 bits.
const MAX_BYTES = 1024 * 1024 * MIB

/** The option `cacheBytes`. Throws `INVALID_OPTION`. */
export function readCacheBytes(bytes: number = DEFAULT_CACHE_BYTES): number {
  if (Number.isInteger(bytes) && bytes >= MIN_BYTES && bytes <= MAX_BYTES) return bytes
  throw invalidOption(
    `cacheBytes must be a whole number from ${MIN_BYTES} to ${MAX_BYTES}; it is ${String(bytes)}`,
  )
}

/** Limits the memory for pages of the file: https://www.sqlite.org/pragma.html#pragma_cache_size */
export function limitPageCache(database: SqliteDatabase, bytes: number): void {
  database.pragma(`cache_size = -${Math.floor(bytes / KIB)}`)
}
