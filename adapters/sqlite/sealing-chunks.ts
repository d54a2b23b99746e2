import { ANY_VALUE, type Chunk, encodeChunks, type Entry } from '../../src/indexing/chunks.js'
import { type Column, sortColumn, valuedOrdinals } from '../../src/indexing/columns.js'
import type { Connection } from './connection.js'
import { ListKind, NO_NAME } from './index-tables.js'
import { segmentNames } from './segment-names.js'
import type { NamedChunk, Step } from './segment-writing.js'
import type { Extract } from './sealing-rows.js'

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
): Generator<NamedChunk, void> {
  yield* named(NO_NAME, ListKind.unindexed, listChunks(unindexed))
  for (const [name, column] of [...columns].toSorted(([a], [b]) => a - b)) {
    for (const [kind, sorted] of sortColumn(column).entries())
      yield* named(name, kind, encodeChunks(entriesOf(sorted)))
    yield* named(name, ListKind.valued, listChunks(valuedOrdinals(column)))
    yield* named(name, ListKind.containers, listChunks(column.containers))
  }
}

function* named(name: number, kind: number, chunks: Iterable<Chunk>): Generator<NamedChunk, void> {
  for (const chunk of chunks) yield { name, kind, chunk }
}

function* entriesOf({
  values,
  ordinals,
}: ReturnType<typeof sortColumn>[number]): Generator<Entry, void> {
  for (const [i, value] of values.entries()) yield { value, ordinals: ordinals[i]! }
}

const listChunks = (ordinals: readonly number[]): Iterable<Chunk> =>
  ordinals.length === 0 ? [] : encodeChunks([{ value: ANY_VALUE, ordinals }])
