import type { NamedChunk } from '../../../src/store-kit/index-builder/column-chunks.js'
import { keyOf } from '../../../src/store-kit/index/segment-source.js'
import { BLOCK, encodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { rowId, type SegmentRow, State } from './index-tables.js'

/**
 * One short write transaction, which may be run again where it failed. What is read between two of
 * them is of other moments.
 */
export type Step = () => void

/** A step that does nothing and needs no transaction: where reading has taken a while. */
export const PAUSE: Step = () => {}

/** A segment on its way. */
export interface Building {
  readonly id: number
  /** True once somebody has taken it for left behind, and removed it. */
  isLost: boolean
}

// So that a transaction takes some milliseconds at most.
const MOST_BYTES = 131_072
const MOST_ROWS = 500

const BEGIN = `INSERT INTO daybook_segments (state, level, size, first, last, removed)
  VALUES (${State.building}, ?, ?, ?, ?, ?) RETURNING id`

const IS_BUILDING = `SELECT 1 FROM daybook_segments WHERE id = ? AND state = ${State.building}`

const SHOW = `UPDATE daybook_segments SET state = ${State.visible} WHERE id = ?`

const INSERT_CHUNK = 'INSERT INTO daybook_chunks (id, vals, posts) VALUES (?, ?, ?)'

const INSERT_KEY = `INSERT INTO daybook_chunk_keys (segment, name, kind, first, ordinal, chunk)
  VALUES (?, ?, ?, ?, ?, ?)`

const INSERT_TIMES = 'INSERT INTO daybook_segment_times (id, first, times) VALUES (?, ?, ?)'

export const isBuilding = ({ statement }: Connection, { id }: Building): boolean =>
  statement(IS_BUILDING).get(id) !== undefined

/** Within a transaction: from its end on the segment is read. */
export function setVisible({ statement }: Connection, { id }: Building): void {
  statement(SHOW).run(id)
}

/** Begins a segment of these events, which nobody sees yet. */
export function* beginSegment(
  { statement }: Connection,
  level: number,
  times: ArrayLike<Microseconds>,
  removed: number,
): Generator<Step, Building> {
  let id = 0
  yield () => {
    const values = [level, times.length, times[0], times[times.length - 1], removed]
    id = (statement(BEGIN).get(...values) as Pick<SegmentRow, 'id'>).id
  }
  return { id, isLost: false }
}

/** Writes rows so many at a time, as long as the segment is there. */
function* writeRows<Row>(
  connection: Connection,
  building: Building,
  rows: Iterable<Row>,
  bytesOf: (row: Row) => number,
  insert: (row: Row, number: number) => void,
): Generator<Step, void> {
  let batch: Row[] = []
  let bytes = 0
  let number = 0
  const write = (): void => {
    building.isLost = !isBuilding(connection, building)
    if (!building.isLost) for (const [i, row] of batch.entries()) insert(row, number + i)
  }
  for (const row of rows) {
    batch.push(row)
    bytes += bytesOf(row)
    if (bytes < MOST_BYTES && batch.length < MOST_ROWS) continue
    yield write
    if (building.isLost) return
    number += batch.length
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield write
}

/** All chunks of the segment, which come in the order of their keys. */
export function* writeChunks(
  connection: Connection,
  building: Building,
  chunks: Iterable<NamedChunk<number>>,
): Generator<Step, void> {
  const { statement } = connection
  const { id } = building
  const bytesOf = ({ chunk }: NamedChunk<number>): number =>
    chunk.values.length + chunk.postings.length
  const insert = ({ name, kind, chunk }: NamedChunk<number>, number: number): void => {
    statement(INSERT_CHUNK).run(rowId(id, number), chunk.values, chunk.postings)
    statement(INSERT_KEY).run(id, name, kind, keyOf(chunk.first), chunk.ordinal, number)
  }
  yield* writeRows(connection, building, chunks, bytesOf, insert)
}

export function* writeTimes(
  connection: Connection,
  building: Building,
  times: ArrayLike<Microseconds>,
): Generator<Step, void> {
  const { statement } = connection
  const blocks = Array.from({ length: Math.ceil(times.length / BLOCK) }, (_, i) => i * BLOCK)
  const insert = (from: number, number: number): void => {
    const values = [times[from], encodeTimes(times, from)]
    statement(INSERT_TIMES).run(rowId(building.id, number), ...values)
  }
  yield* writeRows(connection, building, blocks, () => 2 * BLOCK, insert)
}
