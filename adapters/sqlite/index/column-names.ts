import { createKnownNames, type KnownNames } from '../../../src/store-kit/index/attribute-names.js'
import { extendNames } from '../../../src/store-kit/maintenance/column-names.js'
import type { Connection } from '../connection/connection.js'
import { readingSegment } from './checksums.js'
import { DIALECT, runProgram } from './dialect.js'
import type { SqliteSegmentRow } from './index-state.js'

const all = new WeakMap<Connection, KnownNames>()

/** The names that queries on the connection have read. */
export function knownNames(connection: Connection): KnownNames {
  let known = all.get(connection)
  if (!known) all.set(connection, (known = createKnownNames()))
  return known
}

/** See `extendNames`. */
export const readNextNames = (
  connection: Connection,
  known: KnownNames,
  row: SqliteSegmentRow,
): boolean => readingSegment(row.id, () => runProgram(connection, extendNames(DIALECT, known, row)))

/** The number that a name has in the segment; `undefined` if it has none. */
export function numberOf(
  connection: Connection,
  row: SqliteSegmentRow,
  name: string,
): number | undefined {
  const known = knownNames(connection)
  while (readNextNames(connection, known, row));
  return known.numberOf(name, row.names)
}
