import {
  type CheckedNames,
  createNamesCheck,
  type KnownNames,
  nameRow,
  type NameRow,
} from '../index/attribute-names.js'
import type { Column } from '../index/column-table.js'
import { damagedNames, SegmentState } from '../index/segment-source.js'
import { sql } from '../sql.js'
import {
  admittedColumns,
  type NumberedColumn,
  numberedColumns,
  rowsToAdd,
} from './column-numbers.js'
import { loadSegments, lockState, nextVersion, type SegmentRow } from './index-rows.js'
import type { Dialect } from './dialect.js'
import type { IndexStore } from './index-store.js'
import type { Program, Row } from './program.js'

/** Rows that one statement reads. */
const STEP = 1000

const COLUMNS = 'id, name, checksum'

const rowsAfter = ({ tables }: Dialect): string =>
  `SELECT ${COLUMNS} FROM ${tables.attributeNames} WHERE id > ? ORDER BY id`

const readRow = ([id, name, checksum]: Row): NameRow => [
  Number(id),
  name as string | null,
  Number(checksum),
]

function* nextNames(dialect: Dialect, after: number): Program<readonly NameRow[]> {
  return (yield sql(`${rowsAfter(dialect)} LIMIT ${STEP}`, after)).map(readRow)
}

/**
 * Reads the next names that a segment needs; false if it needs none. Throws `DamagedSegment` if the next one is damaged
 * or missing.
 */
export function* extendNames(
  dialect: Dialect,
  known: KnownNames,
  { id, names: last }: Pick<SegmentRow, 'id' | 'names'>,
): Program<boolean> {
  const before = known.last()
  if (before >= last) return false
  known.add(yield* nextNames(dialect, before))
  if (known.last() === before) throw damagedNames(id)
  return true
}

function* checkNames(dialect: Dialect): Program<CheckedNames> {
  const check = createNamesCheck()
  // Damaged rows may have any numbers, in any order.
  for (let after = -(2 ** 31), isLast = false; !isLast;) {
    const next = yield* nextNames(dialect, after)
    check.add(next)
    const last = next.at(-1)?.[0] ?? after
    isLast = next.length < STEP || last <= after
    after = last
  }
  const segments = (yield* loadSegments(dialect)).filter(({ isTrusted }) => isTrusted)
  return check.result(Math.max(0, ...segments.map(({ names }) => names)))
}

/** Lets no other process add names until the transaction ends. */
export function* lockNames({ lockNames: text }: Dialect): Program<void> {
  if (text !== undefined) yield sql(text)
}

/** Adds rows whose numbers no row has. */
export function* insertNames(
  { tables, jsonElements }: Dialect,
  rows: readonly NameRow[],
): Program<void> {
  if (rows.length > 0)
    yield sql(
      `INSERT INTO ${tables.attributeNames} (${COLUMNS})
       SELECT CAST(value ->> 0 AS bigint), value ->> 1, CAST(value ->> 2 AS bigint) FROM ${jsonElements}`,
      JSON.stringify(rows),
    )
}

/** Takes lost names out of use: all segments that may have their numbers are built anew. */
function* replaceLost(dialect: Dialect): Program<void> {
  const { tables, isIn, list } = dialect
  const { sealedTo } = yield* lockState(dialect)
  yield* lockNames(dialect)
  const { damaged, lost } = yield* checkNames(dialect)
  yield sql(`DELETE FROM ${tables.attributeNames} WHERE ${isIn('id')}`, list(damaged))
  yield* insertNames(
    dialect,
    lost.map((number) => nameRow(number, null)),
  )
  if (lost.length > 0)
    yield sql(
      `UPDATE ${tables.segments} SET state = ${SegmentState.damaged}
       WHERE state = ${SegmentState.visible} AND names >= ?`,
      lost[0],
    )
  yield* nextVersion(dialect, sealedTo)
}

/** Not cached: other processes add names, and a server that takes over after a failure may lack the latest ones. */
async function readNames({ dialect, read, change }: IndexStore): Promise<CheckedNames> {
  const checked = await read(() => checkNames(dialect))
  if (checked.damaged.length === 0 && checked.lost.length === 0) return checked
  await change(() => replaceLost(dialect))
  return read(() => checkNames(dialect))
}

/** Returns the rows after the last one: those that other processes have added, and those of the columns. */
function* addNames(
  dialect: Dialect,
  last: number,
  columns: readonly Column[],
): Program<readonly NameRow[]> {
  yield* lockNames(dialect)
  const others = (yield sql(rowsAfter(dialect), last)).map(readRow)
  const added = rowsToAdd(columns, others, last)
  yield* insertNames(dialect, added)
  return [...others, ...added]
}

/**
 * Numbers the names of columns, in any order. A number is never used for another name. Leaves out columns whose names the
 * store cannot keep, or for which it has no numbers left (`admittedColumns`).
 */
export async function numberColumns(
  store: IndexStore,
  columns: readonly Column[],
): Promise<readonly NumberedColumn[]> {
  const { dialect, batchLimits } = store
  const checked = await readNames(store)
  const { numbers } = checked
  let { last } = checked
  const unknown = columns.filter(({ name }) => !numbers.has(name))
  for (let left = admittedColumns(unknown, last); left.length > 0;) {
    const some = left.slice(0, batchLimits.rows)
    left = left.slice(some.length)
    for (const [number, name] of await store.change(() => addNames(dialect, last, some))) {
      numbers.set(name!, number)
      last = number
    }
  }
  return numberedColumns(columns, numbers)
}

/**
 * The names that have these numbers, in the same order; empty texts for names that were lost. A merge of segments with a
 * lost name has no effect.
 */
export async function namesOf(
  store: IndexStore,
  numbers: readonly number[],
): Promise<readonly string[]> {
  if (numbers.length === 0) return []
  const { names } = await readNames(store)
  return numbers.map((number) => names.get(number) ?? '')
}
