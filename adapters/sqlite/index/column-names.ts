import { perObject } from '../../../src/store/per-object.js'
import { createKnownNames, type KnownNames } from '../../../src/store-kit/index/attribute-names.js'
import { extendNames } from '../../../src/store-kit/maintenance/column-names.js'
import type { Connection } from '../connection/connection.js'
import { readingSegment } from './checksums.js'
import { DIALECT, runProgram } from './dialect.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'

/** The names that queries on the connection have read. */
export const knownNames = perObject<Connection, KnownNames>(createKnownNames)

/** See `extendNames`. */
export const readNextNames = (
  connection: Connection,
  known: KnownNames,
  row: SegmentRow,
): boolean => readingSegment(row.id, () => runProgram(connection, extendNames(DIALECT, known, row)))

/** The number that a name has in the segment; `undefined` if it has none. */
export function numberOf(
  connection: Connection,
  row: SegmentRow,
  name: string,
): number | undefined {
  const known = knownNames(connection)
  while (readNextNames(connection, known, row));
  return known.numberOf(name, row.names)
}
