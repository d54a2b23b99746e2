import {
  type CheckedNames,
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
import { ask, runInTransaction, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import type { DriverContext } from './driver-context.js'
import { changeIndexState, loadSegments, type PostgresSegmentRow } from './index-state.js'

/** Rows that one statement reads or adds. */
const STEP = 1000

const rowsAfter = ({ attributeNames }: Names, columns: string): string =>
  `SELECT ${columns} FROM ${attributeNames} WHERE id > $1 ORDER BY id`

const nextRows = (names: Names, columns: string): string =>
  `${rowsAfter(names, columns)} LIMIT ${STEP}`

const COLUMNS = 'id, name, checksum'

const readRow = ([id, name, checksum]: readonly (string | null)[]): NameRow => [
  Number(id),
  name!,
  Number(checksum),
]

async function readNext(
  client: PostgresPoolClient,
  names: Names,
  after: number,
): Promise<readonly NameRow[]> {
  return (await ask(client, nextRows(names, COLUMNS), after)).map(readRow)
}

/** Reads the names of a segment; throws `DamagedSegment` if any is damaged or missing. */
export async function verifyNames(
  read: <Result>(act: (client: PostgresPoolClient) => Promise<Result>) => Promise<Result>,
  names: Names,
  known: KnownNames,
  { id, names: last }: PostgresSegmentRow,
): Promise<void> {
  while (known.last() < last) {
    const before = known.last()
    known.add(await read((client) => readNext(client, names, before)))
    if (known.last() === before) throw damagedNames(id)
  }
}

async function readAll(client: PostgresPoolClient, names: Names): Promise<CheckedNames> {
  const check = createNamesCheck()
  // A damaged row may have any number.
  for (let after = -(2 ** 31), isLast = false; !isLast;) {
    const next = await readNext(client, names, after)
    check.add(next)
    isLast = next.length < STEP
    after = next.at(-1)?.[0] ?? after
  }
  const segments = (await loadSegments(client, names)).filter(({ isTrusted }) => isTrusted)
  return check.result(Math.max(0, ...segments.map((row) => row.names)))
}

const lockNames = async (client: PostgresPoolClient, { lock }: Names): Promise<void> =>
  void (await ask(client, `SELECT ${lock('names')}`))

async function insertNames(
  client: PostgresPoolClient,
  { attributeNames }: Names,
  rows: readonly NameRow[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += STEP) {
    const some = rows.slice(from, from + STEP)
    await ask(
      client,
      `INSERT INTO ${attributeNames} (${COLUMNS})
       SELECT * FROM unnest($1::int4[], $2::text[], $3::int8[])`,
      some.map(([id]) => id),
      some.map(([, name]) => name),
      some.map(([, , checksum]) => checksum),
    )
  }
}

/** Takes lost names out of use: all segments that may have their numbers are built anew. */
const replaceLost = (client: PostgresPoolClient, names: Names): Promise<boolean> =>
  changeIndexState(client, names, async (state) => {
    await lockNames(client, names)
    const { damaged, lost } = await readAll(client, names)
    await ask(client, `DELETE FROM ${names.attributeNames} WHERE id = ANY ($1::int4[])`, damaged)
    await insertNames(
      client,
      names,
      lost.map((number) => nameRow(number, null)),
    )
    if (lost.length === 0) return undefined
    await ask(
      client,
      `UPDATE ${names.segments} SET state = ${SegmentState.damaged}
       WHERE state = ${SegmentState.visible} AND names >= $1`,
      lost[0],
    )
    return state
  })

/** Not cached: other processes add names, and a server that takes over after a failure may lack the latest ones. */
async function readNames({ names, run }: DriverContext): Promise<CheckedNames> {
  const read = (): Promise<CheckedNames> => run((client) => readAll(client, names))
  const checked = await read()
  if (checked.damaged.length === 0 && checked.lost.length === 0) return checked
  await run((client) => replaceLost(client, names))
  return read()
}

/** Gives names numbers that they keep. */
export async function numberColumns(
  context: DriverContext,
  columns: readonly Column[],
): Promise<readonly NumberedColumn[]> {
  const { names, run } = context
  const { numbers, last } = await readNames(context)
  const added = admittedColumns(
    columns.filter(({ name }) => !numbers.has(name)),
    last,
  )
  if (added.length > 0) {
    const rows = await run((client) => addNames(client, names, last, added))
    for (const [number, name] of rows) numbers.set(name!, number)
  }
  return numberedColumns(columns, numbers)
}

/** Returns the rows after the last one: those that other processes have added, and those of the columns. */
const addNames = (
  client: PostgresPoolClient,
  names: Names,
  last: number,
  columns: readonly Column[],
): Promise<readonly NameRow[]> =>
  runInTransaction(client, async () => {
    await lockNames(client, names)
    const others = (await ask(client, rowsAfter(names, COLUMNS), last)).map(readRow)
    const added = rowsToAdd(columns, others, last)
    await insertNames(client, names, added)
    return [...others, ...added]
  })

/** The names of the numbers, in the same order. A merge of segments with a lost name has no effect. */
export async function namesOf(
  context: DriverContext,
  numbers: readonly number[],
): Promise<readonly string[]> {
  if (numbers.length === 0) return []
  const { names } = await readNames(context)
  return numbers.map((number) => names.get(number) ?? '')
}
