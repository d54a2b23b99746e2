import type { Microseconds } from '../../../src/event/timestamp.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Connection } from '../connection/connection.js'
import { isCorrupt } from '../connection/database.js'
import type { DriverContext } from './driver-context.js'
import { loadIndexState } from './index-state.js'
import { forgetRemoved } from './removed-events.js'
import { rowIds } from './row-ids.js'

/** Rows that one transaction removes. */
const MAX_ROWS = 200

const TABLES = ['daybook_chunks', 'daybook_segment_times']

const DELETE_KEYS = `DELETE FROM daybook_chunk_keys WHERE (segment, name, kind, first, ordinal) IN
  (SELECT segment, name, kind, first, ordinal FROM daybook_chunk_keys WHERE segment = ? LIMIT ${MAX_ROWS})`

// An abandoned segment may have become visible since it was listed.
const MARK_HIDDEN_GONE = `UPDATE daybook_segments SET state = ${SegmentState.gone}
  WHERE id = ? AND state IN (${SegmentState.building}, ${SegmentState.gone})`

const MARK_VISIBLE_GONE = `UPDATE daybook_segments SET state = ${SegmentState.gone} WHERE id = ?`

const NEXT_VERSION = 'UPDATE daybook_index SET version = version + 1'

const HIDDEN = `SELECT id FROM daybook_segments
  WHERE state IN (${SegmentState.building}, ${SegmentState.gone})`

const OLDEST = 'SELECT min(created_at) AS oldest FROM daybook_events'

const DELETE_SEGMENT = 'DELETE FROM daybook_segments WHERE id = ?'

/** Hides a segment from queries, within a transaction. */
export function hideSegment({ statement }: Connection, id: number): void {
  statement(MARK_VISIBLE_GONE).run(id)
}

/** Makes readers load the list of segments again, within a transaction. */
export function nextVersion({ statement }: Connection): void {
  statement(NEXT_VERSION).run()
}

const idsOf = (rows: unknown): readonly number[] =>
  (rows as readonly { readonly id: number }[]).map(({ id }) => id)

export const hiddenSegments = ({ statement }: Connection): readonly number[] =>
  idsOf(statement(HIDDEN).all())

export async function hideExpired(context: DriverContext): Promise<readonly number[]> {
  const { connection, write } = context
  const { statement } = connection
  const { oldest } = statement(OLDEST).get() as { readonly oldest: Microseconds | null }
  const { segments, damaged, sealedTo } = loadIndexState(connection)
  const ids = [...segments, ...damaged]
    .filter(({ last }) => last < (oldest ?? Number.MAX_SAFE_INTEGER))
    .map(({ id }) => id)
  if (ids.length === 0) return ids
  await write(() => {
    for (const id of ids) hideSegment(connection, id)
    nextVersion(connection)
  })
  await forgetRemoved(context, -1, Math.min(oldest ?? sealedTo, sealedTo))
  return ids
}

export const markGone = ({ connection, write }: DriverContext, id: number): Promise<boolean> =>
  write(() => connection.statement(MARK_HIDDEN_GONE).run(id).changes > 0)

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

export const deleteSegment = ({ connection, write }: DriverContext, id: number): Promise<void> =>
  write(() => void connection.statement(DELETE_SEGMENT).run(id))
