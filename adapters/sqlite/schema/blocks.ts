import zlib from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { isPacked, type EventRow, type StoredRow } from './rows.js'

/*
 * With `compression: 'deflate'`, the attributes and the sources of several consecutive events are one row of
 * `daybook_blocks`, compressed together. The other columns stay in the rows of the events, whose attributes are
 * empty bytes. A block is found by the time of its last event: the ranges of blocks do not overlap, as events
 * are packed in their order, and an event that is inserted into the range of a block later is never packed.
 *
 * Each line of a block is one event: the time before that of the last one in base 36, the source as JSON text or
 * nothing, and the attributes, with tabs between them, which JSON text has only as escapes.
 */

/** What a block has of an event. */
export type PackedPart = Pick<EventRow, 'source' | 'attributes'>

type Block = ReadonlyMap<Microseconds, string>

const lineOf = (last: Microseconds, { created_at, source, attributes }: EventRow): string =>
  `${(last - created_at).toString(36)}\t${source === null ? '' : JSON.stringify(source)}\t${attributes}`

/** The data of a block of rows, which are in the order of their times. */
export const packRows = (rows: readonly EventRow[]): Uint8Array =>
  packLines(rows.map((row) => lineOf(rows.at(-1)!.created_at, row)))

const packLines = (lines: readonly string[]): Uint8Array =>
  zlib.deflateRawSync(Buffer.from(lines.join('\n')))

const linesOf = (data: Uint8Array): readonly string[] =>
  zlib.inflateRawSync(data).toString().split('\n')

const timeOf = (last: Microseconds, line: string): Microseconds =>
  last - Number.parseInt(line.slice(0, line.indexOf('\t')), 36)

/** The lines of a block by the times of their events. Throws an error if the data is damaged. */
const readBlock = (last: Microseconds, data: Uint8Array): Block =>
  new Map(linesOf(data).map((line) => [timeOf(last, line), line]))

function partOf(line: string): PackedPart {
  const source = line.indexOf('\t')
  const attributes = line.indexOf('\t', source + 1)
  const text = line.slice(source + 1, attributes)
  return {
    source: text === '' ? null : (JSON.parse(text) as string),
    attributes: line.slice(attributes + 1),
  }
}

/** What the block has of each of its events. Throws an error if the data is damaged. */
export const unpackBlock = (
  last: Microseconds,
  data: Uint8Array,
): ReadonlyMap<Microseconds, PackedPart> =>
  new Map(Array.from(readBlock(last, data), ([time, line]) => [time, partOf(line)]))

/**
 * What a block has of the event at the time; `undefined` if that cannot be read. Its event is then reported as
 * damaged, because it lacks what its checksum includes.
 */
function readPart(block: Block, time: Microseconds): PackedPart | undefined {
  const line = block.get(time)
  try {
    return line === undefined ? undefined : partOf(line)
  } catch {
    return undefined
  }
}

const NO_EVENTS: Block = new Map()

function readIntact(last: Microseconds, data: Uint8Array): Block {
  try {
    return readBlock(last, data)
  } catch {
    return NO_EVENTS
  }
}

/** Characters of the texts that are kept. */
const MAX_CACHED = 4_194_304

/** Blocks that were read, by the times of their last events. A block loses only events that were removed. */
type BlockCache = LRUCache<Microseconds, Block>

const sizeOf = (block: Block): number => {
  let size = 1
  for (const line of block.values()) size += line.length
  return size
}

const caches = new WeakMap<Connection, BlockCache>()

function cacheOf(connection: Connection): BlockCache {
  let cache = caches.get(connection)
  if (!cache) {
    cache = new LRUCache({ maxSize: MAX_CACHED, sizeCalculation: sizeOf })
    caches.set(connection, cache)
  }
  return cache
}

const LAST = 'SELECT last FROM daybook_blocks WHERE last >= ? ORDER BY last LIMIT 1'

// One statement, so that the row and the block are of one moment.
const ROW_AND_BLOCK = `SELECT last, data FROM daybook_events AS e LEFT JOIN daybook_blocks
    ON last = (SELECT min(last) FROM daybook_blocks WHERE last >= e.created_at)
  WHERE e.created_at = ? AND octet_length(attributes) = 0`

/** What a block has of the event; `undefined` if it has lost it, and null if there is no such event any more. */
function partAt(connection: Connection, time: Microseconds): PackedPart | undefined | null {
  const cache = cacheOf(connection)
  const known = cachedBlock(connection, cache, time)
  const part = known && readPart(known, time)
  if (part) return part
  const found = connection.statement(ROW_AND_BLOCK).raw(true).get(time)
  if (!found) return null
  const [last, data] = found as [Microseconds | null, Uint8Array | null]
  if (last === null) return undefined
  const block = readIntact(last, data!)
  cache.set(last, block)
  return readPart(block, time)
}

/**
 * The row with the columns that are in a block, if they are; `undefined` if the event was removed after the row was
 * read. If the block has lost the event, the checksum of the row is wrong.
 */
export function openRow(connection: Connection, row: StoredRow): EventRow | undefined {
  if (!isPacked(row)) return row
  const part = partAt(connection, row.created_at)
  return part === null ? undefined : { ...row, attributes: '', ...part }
}

/** Bytes of the JSON text of the attributes of an event in a block. */
export const packedBytes = (connection: Connection, time: Microseconds): number =>
  Buffer.byteLength(partAt(connection, time)?.attributes ?? '')

/** The block of the event, if it was read. */
function cachedBlock(
  connection: Connection,
  cache: BlockCache,
  time: Microseconds,
): Block | undefined {
  // Most events are in the block that was used last, which comes first.
  const [newest] = cache.values()
  if (!newest || newest.has(time)) return newest
  const found = connection.statement(LAST).get(time) as { readonly last: Microseconds } | undefined
  return found && cache.get(found.last)
}

const BLOCK_FROM = 'SELECT last, data FROM daybook_blocks WHERE last >= ? ORDER BY last LIMIT 1'

const SET_DATA = 'UPDATE daybook_blocks SET data = ? WHERE last = ?'

const DELETE_BLOCK = 'DELETE FROM daybook_blocks WHERE last = ?'

const DELETE_BEFORE = 'DELETE FROM daybook_blocks WHERE last < ?'

/** Removes what blocks have of the events before the time. Call it within the transaction that removes them. */
export function removeBlocksBefore({ statement }: Connection, time: Microseconds): void {
  statement(DELETE_BEFORE).run(time)
  removeLines({ statement }, time, (one) => one < time)
}

/** Removes what a block has of the event at the time. Call it within the transaction that removes the event. */
export const removeFromBlock = ({ statement }: Connection, time: Microseconds): void =>
  removeLines({ statement }, time, (one) => one === time)

/** Removes lines from the first block that ends at the time or later. */
function removeLines(
  { statement }: Pick<Connection, 'statement'>,
  from: Microseconds,
  isRemoved: (time: Microseconds) => boolean,
): void {
  const found = statement(BLOCK_FROM).get(from)
  if (!found) return
  const { last, data } = found as { readonly last: Microseconds; readonly data: Uint8Array }
  let lines: readonly string[]
  try {
    lines = linesOf(data)
  } catch {
    // What cannot be read cannot be removed alone; the other events of the block are lost in any case.
    statement(DELETE_BLOCK).run(last)
    return
  }
  const left = lines.filter((line) => !isRemoved(timeOf(last, line)))
  if (left.length === lines.length) return
  if (left.length === 0) statement(DELETE_BLOCK).run(last)
  else statement(SET_DATA).run(packLines(left), last)
}
