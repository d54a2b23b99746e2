import { ANY_VALUE, type Chunk, encodeChunks, type Entry } from '../index/chunks.js'
import type { Column } from '../index/column-table.js'
import { type Columns, type SortedValues, sortColumn, valuedOrdinals } from '../index/columns.js'
import { Kind } from '../index/part.js'
import { ListKind, UNNAMED_LISTS } from '../index/segment-source.js'
import type { NamedChunk } from '../maintenance/index-store.js'

/** The chunks of the columns, in the given order of names, then by kind and value. `maxBytes` limits chunks of values. */
export function* columnChunks(
  columns: Iterable<readonly [number, Column]>,
  maxBytes?: number,
): Generator<NamedChunk, void> {
  for (const [name, column] of columns) {
    for (const [kind, sorted] of sortColumn(column).entries())
      yield* named(name, kind, encodeChunks(entriesOf(sorted), maxBytes))
    yield* named(name, ListKind.valued, listChunks(valuedOrdinals(column)))
    yield* named(name, ListKind.containers, listChunks(column.containers))
    yield* named(name, ListKind.partial, listChunks(column.partial))
  }
}

/** The chunks of the lists without a name. */
export function* unnamedChunks({
  sources,
  otherNames,
  others,
  partialTexts,
}: Pick<Columns, 'sources' | 'otherNames' | 'others' | 'partialTexts'>): Generator<
  NamedChunk,
  void
> {
  const texts = sortColumn(sources)[Kind.text]!
  yield* named(UNNAMED_LISTS, Kind.text, encodeChunks(entriesOf(texts)))
  yield* named(UNNAMED_LISTS, ListKind.otherNames, encodeChunks(otherNames.entries()))
  yield* named(UNNAMED_LISTS, ListKind.others, listChunks(others))
  yield* named(UNNAMED_LISTS, ListKind.partialTexts, listChunks(partialTexts))
}

function* named(name: number, kind: number, chunks: Iterable<Chunk>): Generator<NamedChunk, void> {
  for (const chunk of chunks) yield { name, kind, chunk }
}

function* entriesOf({ values, ordinals }: SortedValues): Generator<Entry, void> {
  for (const [i, value] of values.entries()) yield { value, ordinals: ordinals[i]! }
}

export const listChunks = (ordinals: ArrayLike<number>): Iterable<Chunk> =>
  ordinals.length === 0 ? [] : encodeChunks([{ value: ANY_VALUE, ordinals }])
