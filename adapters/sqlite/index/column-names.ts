import { createKnownNames, type KnownNames } from '../../../src/store-kit/index/attribute-names.js'
import { damagedNames } from '../../../src/store-kit/index/segment-source.js'
import { nextNames } from '../../../src/store-kit/maintenance/column-names.js'
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

/**
 * Reads the next names that a segment needs; false if it needs none. Throws `DamagedSegment` if the next one is
 * damaged or missing.
 */
export function readNextNames(
  connection: Connection,
  known: KnownNames,
  { id, names: last }: SqliteSegmentRow,
): boolean {
  const before = known.last()
  if (before >= last) return false
  known.add(readingSegment(id, () => runProgram(connection, nextNames(DIALECT, before))))
  if (known.last() === before) throw damagedNames(id)
  return true
}

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
