/*
 * The ids of rows that belong to segments. The chunks of a segment are numbered from 0 in the order of their
 * keys, and so are the blocks of its times; the id of such a row is made of the segment's id and the number.
 */

/** Above the number of chunks, or blocks of times, of any segment. */
const MAX_ROWS = 2 ** 24

/** The id of a segment's chunk, or block of times. */
export const rowId = (segment: number, number: number): number => segment * MAX_ROWS + number

/** The segment of a row. */
export const segmentOf = (row: number): number => Math.floor(row / MAX_ROWS)

/** The id of a chunk in SQL, with `k` for the table of keys. */
export const CHUNK_ID = `k.segment * ${MAX_ROWS} + k.chunk`

/** The range of a segment's row ids; the end is exclusive. */
export const rowIds = (segment: number): readonly [from: number, end: number] => [
  rowId(segment, 0),
  rowId(segment + 1, 0),
]
