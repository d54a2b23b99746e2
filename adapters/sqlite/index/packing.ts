import type { Microseconds } from '../../../src/event/timestamp.js'
import { EARLY_LEVEL } from '../../../src/store-kit/index-builder/segment-levels.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { createDamageReporter } from '../../../src/store/damage.js'
import type { Connection } from '../connection/connection.js'
import { hasFreePages, releaseSomePages } from '../connection/free-pages.js'
import { packRows, unpackBlock } from '../schema/blocks.js'
import { createEventReader } from '../schema/events.js'
import { onlyRow } from '../schema/only-row.js'
import { type ReadRow, readAfter } from '../schema/read-after.js'
import type { EventRow } from '../schema/rows.js'
import type { DriverContext } from './driver-context.js'

/* Moves the attributes of sealed events into blocks: see schema/blocks.ts. */

/** Rows that one transaction moves, in a few milliseconds. */
const MAX_ROWS = 128

/** A block has no more events, so that reading one of them takes no longer. */
const MAX_BLOCK_ROWS = 32

/** Characters of attributes in a block of more than one event. */
const MAX_BLOCK_LENGTH = 32_768

/** Bytes of a page that its header and those of a block take, so that a block is no larger than a page. */
const PAGE_OVERHEAD = 64

/** The part of the file that may stay free for new events. */
const MAX_FREE = 1 / 16

// No block may begin within another one, so events before the end of the last block are never packed. Events after
// those of the last full segment are packed later, so that the newest ones are read as they are.
const STATE = `SELECT packed_to, max(packed_to, coalesce((SELECT max(last) FROM daybook_blocks), -1)) AS last,
  min(sealed_to, coalesce((SELECT max(last) FROM daybook_segments
    WHERE state = ${SegmentState.visible} AND level > ${EARLY_LEVEL}), -1)) AS sealed_to
  FROM daybook_packing, daybook_index`

interface State {
  readonly packed_to: Microseconds
  /** Events up to this time stay as they are. */
  readonly last: Microseconds
  /** The end of the full segments. */
  readonly sealed_to: Microseconds
}

// Changes nothing if another process has packed events in the meantime.
const ADVANCE = 'UPDATE daybook_packing SET packed_to = ? WHERE packed_to = ?'

const INSERT = 'INSERT INTO daybook_blocks (last, data) VALUES (?, ?)'

const IS_SAME = `SELECT 1 FROM daybook_events
  WHERE created_at = ? AND checksum = ? AND octet_length(attributes) > 0`

// SQLite does not join the pages of rows that an UPDATE makes smaller, but those of rows that are deleted.
const DELETE_ROW = 'DELETE FROM daybook_events WHERE created_at = ?'

const INSERT_ROW = `INSERT INTO daybook_events (created_at, suffix, type, username, source, system, attributes, checksum)
  VALUES (?, ?, ?, ?, NULL, ?, x'', ?)`

const stateOf = (connection: Connection): State => onlyRow(connection, STATE) as State

/** Whether sealed events are in no block yet. Takes microseconds. */
export function isPackingDue(connection: Connection): boolean {
  const { last, sealed_to } = stateOf(connection)
  return last < sealed_to
}

interface Block {
  readonly rows: readonly EventRow[]
  readonly data: Uint8Array
}

/** Moves the next sealed events into blocks, in one transaction; false if there are none. */
export async function packNext(context: DriverContext): Promise<boolean> {
  const { connection, write } = context
  const { last, packed_to, sealed_to } = stateOf(connection)
  if (last < sealed_to) return packTo(context, { last, packed_to, sealed_to })
  await releasePages(connection, write)
  return false
}

async function packTo(
  { connection, write, steps }: DriverContext,
  { last, packed_to, sealed_to }: State,
): Promise<boolean> {
  // The store's own connection reports events that cannot be read.
  const events = createEventReader(connection, createDamageReporter())
  const read = readAfter({ connection, events }, last, MAX_ROWS).filter(
    ({ time }) => time <= sealed_to,
  )
  const pageSize = connection.database.pragma('page_size', { simple: true }) as number
  const blocks: Block[] = []
  for (const rows of runsOf(read)) blocks.push(...blocksOf(rows, pageSize - PAGE_OVERHEAD))
  await steps.pause()
  let to = read.length < MAX_ROWS ? sealed_to : read.at(-1)!.time
  if (read.length === MAX_ROWS && blocks.length > 1) {
    // With the rows that follow, the last block has more of them.
    blocks.pop()
    to = blocks.at(-1)!.rows.at(-1)!.created_at
  }
  return write(() => {
    if (!blocks.every(({ rows }) => areSame(connection, rows))) return true
    if (connection.statement(ADVANCE).run(to, packed_to).changes === 0) return true
    insertBlocks(connection, blocks)
    return true
  })
}

/** Consecutive rows that can be packed together: a row that cannot be read stays as it is. */
function runsOf(read: readonly ReadRow[]): readonly (readonly EventRow[])[] {
  const runs: EventRow[][] = [[]]
  for (const { row } of read)
    if (row) runs.at(-1)!.push(row)
    else runs.push([])
  return runs.filter((run) => run.length > 0)
}

/** Blocks of as many rows as fit into a page. */
function blocksOf(rows: readonly EventRow[], maxBytes: number): readonly Block[] {
  const blocks: Block[] = []
  for (let from = 0; from < rows.length; from += blocks.at(-1)!.rows.length)
    blocks.push(largestBlock(rows, from, maxBytes))
  return blocks.filter(isLossless)
}

function largestBlock(rows: readonly EventRow[], from: number, maxBytes: number): Block {
  let count = 0
  for (let length = 0; count < MAX_BLOCK_ROWS && from + count < rows.length; count += 1) {
    length += rows[from + count]!.attributes.length
    if (length > MAX_BLOCK_LENGTH && count > 0) break
  }
  for (;;) {
    const some = rows.slice(from, from + count)
    const data = packRows(some)
    if (count === 1 || data.length <= maxBytes) return { rows: some, data }
    count = Math.max(1, Math.min(count - 1, Math.floor((count * maxBytes) / data.length)))
  }
}

/** False if the block does not return what was put into it; then its rows stay as they are. */
function isLossless({ rows, data }: Block): boolean {
  const block = unpackBlock(rows.at(-1)!.created_at, data)
  return rows.every(({ created_at, source, attributes }) => {
    const part = block.get(created_at)
    return part?.source === source && part.attributes === attributes
  })
}

/** Whether none of the rows was removed or packed since it was read. */
const areSame = ({ statement }: Connection, rows: readonly EventRow[]): boolean =>
  rows.every(({ created_at, checksum }) => statement(IS_SAME).get(created_at, checksum))

function insertBlocks({ statement }: Connection, blocks: readonly Block[]): void {
  for (const { rows, data } of blocks) statement(INSERT).run(rows.at(-1)!.created_at, data)
  const all = blocks.flatMap(({ rows }) => rows)
  for (const { created_at } of all) statement(DELETE_ROW).run(created_at)
  for (const { created_at, suffix, type, username, system, checksum } of all)
    statement(INSERT_ROW).run(created_at, suffix, type, username, system, checksum)
}

const countOf = ({ database }: Connection, pragma: 'freelist_count' | 'page_count'): number =>
  database.pragma(pragma, { simple: true }) as number

/** Gives free pages back to the file system, but for those that new events will use soon. */
async function releasePages(connection: Connection, write: DriverContext['write']): Promise<void> {
  const hasMany = (): boolean =>
    hasFreePages(connection) &&
    countOf(connection, 'freelist_count') > MAX_FREE * countOf(connection, 'page_count')
  while (hasMany() && (await write(() => releaseSomePages(connection))));
}
