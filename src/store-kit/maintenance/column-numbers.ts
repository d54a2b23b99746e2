import { isStorableText } from '../../event/json-copy.js'
import { type NameRow, nameRow } from '../index/attribute-names.js'
import type { Column } from '../index/column-table.js'

/** Once this many names have numbers, a name gets one only if several events of a segment have it. */
const MAX_RARE_NAMES = 8192
/** Maximum number of names that a store numbers. */
const MAX_NUMBERED_NAMES = 65_536

/** A column and the store's number for its name. */
export type NumberedColumn = readonly [number: number, column: Column]

const isRare = ({ ordinals, containers }: Column): boolean =>
  ordinals.at(-1) === ordinals[0] && containers.length < 2

/**
 * The columns that get new numbers, when `numbered` names have one already. This bounds a store's table of names,
 * however many names events have. Names that Postgres cannot keep get none.
 */
export function admittedColumns(columns: readonly Column[], numbered: number): readonly Column[] {
  let count = numbered
  return columns.filter((column) => {
    if (!isStorableText(column.name)) return false
    const max = isRare(column) ? MAX_RARE_NAMES : MAX_NUMBERED_NAMES
    if (count >= max) return false
    count += 1
    return true
  })
}

/** The rows to add for the columns, whose numbers follow `last` and the rows that others have added after it. */
export function rowsToAdd(
  columns: readonly Column[],
  others: readonly NameRow[],
  last: number,
): readonly NameRow[] {
  const known = new Set(others.map(([, name]) => name))
  const end = others.at(-1)?.[0] ?? last
  return columns
    .filter(({ name }) => !known.has(name))
    .map(({ name }, i) => nameRow(end + 1 + i, name))
}

/** The columns that have a number. */
export const numberedColumns = (
  columns: readonly Column[],
  numbers: ReadonlyMap<string, number>,
): readonly NumberedColumn[] =>
  columns.flatMap((column) => {
    const number = numbers.get(column.name)
    return number === undefined ? [] : [[number, column] as const]
  })
