import { withGrams } from '../../../src/store-kit/index-builder/list-grams.js'
import { mergeChunks } from '../../../src/store-kit/index-builder/merge-chunks.js'
import {
  nextToMerge,
  type SealingTuning,
} from '../../../src/store-kit/index-builder/segment-levels.js'
import type { Chunk } from '../../../src/store-kit/index/chunks.js'
import type { NamedChunk } from '../../../src/store-kit/index-builder/column-chunks.js'
import { ListKind } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { DEFAULT_TUNING, rowId, rowIds, type SegmentRow, visibleSegments } from './index-tables.js'
import { eventsAt, mergeSegments } from './merging-times.js'
import { dropSegment, missingRows, nextVersion, setGone } from './segment-dropping.js'
import {
  beginSegment,
  type Building,
  isBuilding,
  setVisible,
  type Step,
  writeChunks,
  writeTimes,
} from './segment-writing.js'

const PRESENT = `SELECT removed, coalesce((SELECT min(created_at) FROM daybook_events), 9e15) AS oldest
  FROM daybook_index`

interface Present {
  readonly removed: number
  /** None before it is there, however it was removed. */
  readonly oldest: Microseconds
}

/**
 * Merges so many visible segments of a level, the oldest first, into one of the next, which has
 * only the events that are still there. False where no level has so many; true where it may be worth
 * another try. Given up half-way it leaves segments behind that `removeOrphans` removes.
 */
export function* mergeNext(
  connection: Connection,
  tuning: SealingTuning = DEFAULT_TUNING,
): Generator<Step, boolean> {
  const parts = nextToMerge(visibleSegments(connection), tuning.fanOut)
  if (!parts) return false
  const { removed, oldest } = connection.statement(PRESENT).get() as Present
  const isThere = parts.every((part) => part.removed === removed)
    ? (time: Microseconds) => time >= oldest
    : eventsAt(connection)
  const { times, ordinals, doubled } = yield* mergeSegments(connection, parts, isThere)
  let building: Building | undefined
  if (times.length > 0) {
    building = yield* beginSegment(connection, levelOf(parts) + 1, times, removed)
    yield* writeTimes(connection, building, times)
    if (!building.isLost)
      yield* writeChunks(
        connection,
        building,
        withGrams(mergedChunks(connection, parts, ordinals), tuning.leastChunks),
      )
  }
  const isDone = yield* exchange(connection, parts, building, doubled)
  if (isDone) for (const { id } of parts) yield* dropSegment(connection, id)
  else if (building) yield* dropSegment(connection, building.id)
  return true
}

const levelOf = (parts: readonly SegmentRow[]): number => parts[0]!.level

const SEAL_AGAIN = 'INSERT INTO daybook_late (created_at) VALUES (?)'

const APPEND_AGAIN = 'UPDATE daybook_high_water SET appended = appended + ?'

/**
 * In one transaction: the whole in place of the parts, if all of these are still there; what it leaves out
 * is to be sealed again.
 */
function* exchange(
  connection: Connection,
  parts: readonly SegmentRow[],
  building: Building | undefined,
  doubled: readonly Microseconds[],
): Generator<Step, boolean> {
  let isDone = false
  yield () => {
    const visible = new Set(visibleSegments(connection).map(({ id }) => id))
    isDone =
      parts.every(({ id }) => visible.has(id)) && (!building || isBuilding(connection, building))
    if (!isDone) return
    for (const { id } of parts) setGone(connection, id)
    if (building) setVisible(connection, building)
    for (const time of doubled) connection.statement(SEAL_AGAIN).run(time)
    if (doubled.length > 0) connection.statement(APPEND_AGAIN).run(doubled.length)
    nextVersion(connection)
  }
  return isDone
}

/** The chunks of one name and kind in a part: those from a number on to the next lists'. */
interface ListsPlace {
  readonly name: number
  readonly kind: number
  readonly chunk: number
}

const FIRST_LISTS = `SELECT name, kind, chunk FROM daybook_chunk_keys WHERE segment = ?
  ORDER BY name, kind, first, ordinal LIMIT 1`

const NEXT_LISTS = `SELECT name, kind, chunk FROM daybook_chunk_keys
  WHERE segment = ? AND (name, kind) > (?, ?) ORDER BY name, kind, first, ordinal LIMIT 1`

const CHUNK = 'SELECT vals, posts FROM daybook_chunks WHERE id = ?'

const LAST_CHUNK = 'SELECT max(id) AS last FROM daybook_chunks WHERE id >= ? AND id < ?'

/** The chunks of the whole, in the order of their keys. */
function* mergedChunks(
  { statement }: Connection,
  parts: readonly SegmentRow[],
  ordinals: readonly Uint32Array[],
): Generator<NamedChunk<number>, void> {
  const endOf = (id: number): number => {
    const row = statement(LAST_CHUNK).get(...rowIds(id)) as { readonly last: number | null }
    return (row.last ?? rowId(id, -1)) + 1 - rowId(id, 0)
  }
  const after = (id: number, { name, kind }: ListsPlace): ListsPlace | undefined =>
    statement(NEXT_LISTS).get(id, name, kind) as ListsPlace | undefined

  function* read(
    id: number,
    from: number,
    to: number,
  ): Generator<Pick<Chunk, 'values' | 'postings'>> {
    for (let number = from; number < to; number++) {
      const row = statement(CHUNK).raw(true).get(rowId(id, number))
      if (!row) throw missingRows(id)
      const [values, postings] = row as [string, Uint8Array]
      yield { values, postings }
    }
  }

  const heads = parts.map(({ id }, i) => ({
    id,
    ordinals: ordinals[i]!,
    end: endOf(id),
    lists: statement(FIRST_LISTS).get(id) as ListsPlace | undefined,
  }))
  for (;;) {
    const lowest = heads.flatMap(({ lists }) => lists ?? []).toSorted(compareLists)[0]
    if (!lowest) return
    const met = heads.filter(({ lists }) => lists && compareLists(lists, lowest) === 0)
    const sources = met.map((head) => {
      const { id, lists, end, ordinals } = head
      const next = after(id, lists!)
      head.lists = next
      return { chunks: read(id, lists!.chunk, next?.chunk ?? end), ordinals }
    })
    const { name, kind } = lowest
    // Made anew, as they are of the parts' chunks.
    if (kind === ListKind.grams) continue
    for (const chunk of mergeChunks(sources)) yield { name, kind, chunk }
  }
}

const compareLists = (a: ListsPlace, b: ListsPlace): number => a.name - b.name || a.kind - b.kind
