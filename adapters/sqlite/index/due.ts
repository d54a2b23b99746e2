import type { Due } from '../../../src/store-kit/index-builder/sealer.js'
import { loadState } from '../../../src/store-kit/maintenance/index-rows.js'
import { hasStaleSql } from '../../../src/store-kit/maintenance/dropping.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import {
  INDEX_BOUNDS,
  type IndexBounds,
  maxStoredBytes,
} from '../../../src/store-kit/index/index-bounds.js'
import type {
  EarlySealing,
  SealingTuning,
} from '../../../src/store-kit/index-builder/segment-levels.js'
import type { Connection } from '../connection/connection.js'
import { LIMIT } from '../connection/limit.js'
import { onlyRow } from '../schema/events.js'
import type { Compression } from './compression.js'
import { DIALECT, runProgram } from './dialect.js'
import { isLeased } from './lease.js'
import { isPackingDue } from './packing.js'

// Reads no more than the sizes of the attributes.
const NEW_BYTES = `SELECT max(created_at) AS last, sum(length(attributes)) AS bytes, count(*) AS count
  FROM (SELECT created_at, attributes FROM daybook_events WHERE created_at > ? ORDER BY created_at ${LIMIT})`

/** Rows that are read at once, in a few milliseconds. */
const STEP = 4096
/** Rows that a check in the main thread reads, in about a millisecond; the next check, 100 ms later, goes on after them. */
const MAX_CHECKED = 1024

/** The stored bytes of the events after `sealed_to`, each of which is read once. */
interface UnsealedBytes {
  readonly sealedTo: Microseconds
  last: Microseconds
  bytes: number
}

const known = new WeakMap<Connection, UnsealedBytes>()

/** Makes the bytes be read again, after events were removed. */
export const forgetBytes = (connection: Connection): void => void known.delete(connection)

interface NewBytes {
  readonly last: Microseconds | null
  readonly bytes: number
  readonly count: number
}

/**
 * True if the unsealed events take as many bytes as are sealed into one segment. Late events are left out, and removed events
 * may be counted. Reads up to `maxRows` events that no call before has read.
 */
export function isFullOfBytes(
  connection: Connection,
  maxBytes: number,
  maxRows = Infinity,
): boolean {
  const { statement } = connection
  const { sealedTo: to } = runProgram(connection, loadState(DIALECT))
  let state = known.get(connection)
  if (state?.sealedTo !== to) {
    state = { sealedTo: to, last: to, bytes: 0 }
    known.set(connection, state)
  }
  const step = Math.min(STEP, maxRows)
  for (let rows = 0; state.bytes < maxBytes && rows < maxRows; rows += step) {
    const { last, bytes, count } = statement(NEW_BYTES).get(state.last, step) as NewBytes
    if (last === null) return false
    state.last = last
    state.bytes += bytes
    if (count < step) break
  }
  return state.bytes >= maxBytes
}

const UNSEALED = 'SELECT appended - sealed AS unsealed FROM daybook_high_water, daybook_index'

const HAS_REPAIRS = `SELECT (SELECT rebuild FROM daybook_index) OR ${hasStaleSql(DIALECT.tables)}`

/** True if `size` events may be unsealed, or as many bytes as are sealed into a segment; removed events count until `readUnsealed` corrects the number. Takes microseconds. */
export const isSealDue = (connection: Connection, size: number, bounds: IndexBounds): boolean =>
  hasUnsealed(connection, size) || isFullOfBytes(connection, maxStoredBytes(bounds))

const hasUnsealed = (connection: Connection, size: number): boolean =>
  countUnsealed(connection) >= size

/** As for {@link isSealDue}, it may be too high after events were removed. */
export const countUnsealed = (connection: Connection): number =>
  (onlyRow(connection, UNSEALED) as { readonly unsealed: number }).unsealed

function isWorkDue(connection: Connection, { segmentSize, bounds }: SealingTuning): boolean {
  if (hasUnsealed(connection, segmentSize)) return true
  if (isFullOfBytes(connection, maxStoredBytes(bounds ?? INDEX_BOUNDS), MAX_CHECKED)) return true
  const [hasRepairs] = connection.statement(HAS_REPAIRS).raw(true).get() as [0 | 1]
  return hasRepairs === 1
}

const MARKS = 'SELECT appended, sealed FROM daybook_high_water, daybook_index'

/** Says whether enough events have waited long enough to be sealed early, by the knowledge of this process. Takes microseconds. */
export function createEarlyCheck(
  connection: Connection,
  { minEvents, afterMs }: EarlySealing,
): () => boolean {
  let known: number | undefined
  let dueAt = Infinity
  return () => {
    const { appended, sealed } = onlyRow(connection, MARKS) as {
      readonly appended: number
      readonly sealed: number
    }
    const now = performance.now()
    // Processes differ, so that one seals before the threads of the others have started.
    if (sealed !== known) [known, dueAt] = [sealed, now + afterMs * (1 + Math.random())]
    return appended - sealed >= minEvents && now >= dueAt
  }
}

/** Returns `due` if a round would find work. Takes microseconds. */
export function findDue(
  connection: Connection,
  { tuning, compression }: { readonly tuning: SealingTuning; readonly compression: Compression },
  now: Microseconds,
): Due {
  if (isLeased(connection, now)) return 'leased'
  const isDue =
    isWorkDue(connection, tuning) || (compression === 'deflate' && isPackingDue(connection))
  return isDue ? 'due' : 'nothing'
}
