import {
  type CheckedNames,
  createKnownNames,
  createNamesCheck,
  type KnownNames,
  nameRow,
  type NameRow,
} from '../../../src/store-kit/index/attribute-names.js'
import {
  admittedColumns,
  numberedColumns,
  rowsToAdd,
} from '../../../src/store-kit/index-builder/column-numbers.js'
import type { NumberedColumn } from '../../../src/store-kit/index-builder/index-driver.js'
import type { Column } from '../../../src/store-kit/index/column-table.js'
import { damagedNames, SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Connection } from '../connection/connection.js'
import { readingSegment } from './checksums.js'
import type { DriverContext } from './driver-context.js'
import { loadIndexState, type SqliteSegmentRow } from './index-state.js'
import { nextVersion } from './segment-dropping.js'

/** Rows that one statement reads, and that one transaction adds. */
const STEP = 500

const AFTER = 'SELECT id, name, checksum FROM daybook_names WHERE id > ? ORDER BY id'

const NEXT = `${AFTER} LIMIT ${STEP}`

const INSERT = 'INSERT INTO daybook_names (id, name, checksum) VALUES (?, ?, ?)'

const DELETE = 'DELETE FROM daybook_names WHERE id = ?'

const SET_DAMAGED = `UPDATE daybook_segments SET state = ${SegmentState.damaged}
  WHERE state = ${SegmentState.visible} AND names >= ?`

const nextRows = ({ statement }: Connection, after: number): readonly NameRow[] =>
  statement(NEXT).raw(true).all(after) as unknown as readonly NameRow[]

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
  known.add(readingSegment(id, () => nextRows(connection, before)))
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

/** Not cached, as other processes add names. */
async function readAll({ connection, steps }: DriverContext): Promise<CheckedNames> {
  const check = createNamesCheck()
  // Damaged rows may have any numbers, in any order.
  for (let after = Number.MIN_SAFE_INTEGER, isLast = false; !isLast;) {
    const next = nextRows(connection, after)
    check.add(next)
    const last = next.at(-1)?.[0] ?? after
    isLast = next.length < STEP || last <= after
    after = last
    if (steps.isSliceOver()) await steps.pause()
  }
  const { segments, damaged } = loadIndexState(connection)
  const trusted = [...segments, ...damaged].filter(({ isTrusted }) => isTrusted)
  return check.result(Math.max(0, ...trusted.map(({ names }) => names)))
}

/** Takes lost names out of use: all segments that may have their numbers are built anew. */
function replaceLost({ statement }: Connection, { damaged, lost }: CheckedNames): void {
  for (const number of damaged) statement(DELETE).run(number)
  for (const number of lost) statement(INSERT).run(...nameRow(number, null))
  if (lost.length > 0) statement(SET_DAMAGED).run(lost[0])
}

async function readNames(context: DriverContext): Promise<CheckedNames> {
  const { connection, write } = context
  const checked = await readAll(context)
  if (checked.damaged.length === 0 && checked.lost.length === 0) return checked
  await write(() => {
    replaceLost(connection, checked)
    nextVersion(connection)
  })
  return readAll(context)
}

/** Gives names numbers that they keep. */
export async function numberColumns(
  context: DriverContext,
  columns: readonly Column[],
): Promise<readonly NumberedColumn[]> {
  const checked = await readNames(context)
  const { numbers } = checked
  let { last } = checked
  const unknown = columns.filter(({ name }) => !numbers.has(name))
  const added = admittedColumns(unknown, last)
  for (let from = 0; from < added.length; from += STEP) {
    const some = added.slice(from, from + STEP)
    for (const [number, name] of await context.write(() =>
      addNames(context.connection, last, some),
    )) {
      numbers.set(name!, number)
      last = number
    }
  }
  return numberedColumns(columns, numbers)
}

/** Returns the rows after the last one: those that other processes have added, and those of the columns. */
function addNames(
  connection: Connection,
  last: number,
  columns: readonly Column[],
): readonly NameRow[] {
  const others = connection.statement(AFTER).raw(true).all(last) as unknown as readonly NameRow[]
  const added = rowsToAdd(columns, others, last)
  for (const row of added) connection.statement(INSERT).run(...row)
  return [...others, ...added]
}

/** The names of the numbers, in the same order. A merge of segments with a lost name has no effect. */
export async function namesOf(
  context: DriverContext,
  numbers: readonly number[],
): Promise<readonly string[]> {
  if (numbers.length === 0) return []
  const { names } = await readNames(context)
  return numbers.map((number) => names.get(number) ?? '')
}
