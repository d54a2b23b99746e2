import {
  columnChunks,
  type NamedChunk,
  unindexedChunks,
} from '../../../src/store-kit/index-builder/column-chunks.js'
import type { Column } from '../../../src/store-kit/index/columns.js'
import type { Connection } from '../connection/connection.js'
import { NO_NAME } from './index-tables.js'
import { segmentNames } from './segment-names.js'
import type { Step } from './segment-writing.js'
import type { Extract } from '../../../src/store-kit/index/extract.js'

// Names that one transaction adds.
const MOST_NAMED = 500

/** Gives each of the names its number, for good. */
export function* nameColumns(
  connection: Connection,
  byName: ReadonlyMap<string, Column>,
): Generator<Step, ReadonlyMap<number, Column>> {
  const names = segmentNames(connection)
  const unknown = [...byName.keys()].filter((name) => names.find(name) === undefined)
  for (let from = 0; from < unknown.length; from += MOST_NAMED) {
    const some = unknown.slice(from, from + MOST_NAMED)
    yield () => {
      const insert = connection.statement('INSERT OR IGNORE INTO daybook_names (name) VALUES (?)')
      for (const name of some) insert.run(name)
    }
  }
  return new Map([...byName].map(([name, column]) => [names.find(name)!, column]))
}

/** The chunks of a segment, in the order of their keys. */
export function* extractedChunks(
  columns: ReadonlyMap<number, Column>,
  unindexed: Extract['unindexed'],
): Generator<NamedChunk<number>, void> {
  yield* unindexedChunks(NO_NAME, unindexed)
  yield* columnChunks([...columns].toSorted(([a], [b]) => a - b))
}
