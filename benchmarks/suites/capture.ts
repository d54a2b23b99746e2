import { median } from 'simple-statistics'
import { microseconds, whole } from '../harness/format.js'
import type { Options } from '../harness/options.js'
import { withPostgres } from '../harness/postgres-server.js'
import { runRounds } from '../harness/rounds.js'
import { defineSuite, noSetUp, type Row, type Table } from '../harness/suite.js'
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
  tables: TablesOfSides,
  { rounds, rows: count }: Options,
): Promise<Table[]> {
  const measured = await runRounds<Work, Side, Price>({
    cases: WORK,
    sides: SIDES,
    rounds,
    warmUp: true,
    async measure({ isFull, run }, side) {
      await tables.run(`DELETE FROM "${side}"`)
      if (isFull) await tables.run(tables.fill(side, count))
      await tables.clear()
      return timed(tables, count, () => run(tables, side, count))
    },
    titleOf: ({ title }) => title,
    print: ({ time }) => microseconds(time),
  })
  const moves: number[] = []
  for (let round = 0; round < rounds; round++) {
    await tables.run('DELETE FROM captured')
    await tables.clear()
    await tables.run(tables.fill('captured', count))
    moves.push((await timed(tables, count, () => tables.move())).time)
  }
  const rows = [...measured].map(([{ title }, answers]): Row => {
    const none = microseconds(median(timesOf(answers.none)))
    const cpu = SIDES.map((side) => microseconds(median(answers[side].map((one) => one.cpu))))
    return {
      name: title,
      ours: timesOf(answers.captured),
      theirs: timesOf(answers.plain),
      print: microseconds,
      note: `without a trigger ${none}; processor time without, with the shortest, captured: ${cpu.join(', ')}`,
    }
  })
  return [
    {
      title: `Per row, ${whole(count)} rows of 5 columns, compared with the shortest trigger`,
      text: 'The shortest trigger inserts the time and the row before and after into a table without further indexes.',
      rows: [
        ...rows,
        {
          name: 'moving an event from the outbox to the log, later and in another transaction',
          ours: moves,
          print: microseconds,
        },
      ],
    },
  ]
}

async function using(tables: TablesOfSides, options: Options, store: string): Promise<Table[]> {
  try {
    const found = await measureTables(tables, options)
    return found.map((one) => ({ ...one, title: `${store}: ${one.title}` }))
  } finally {
    await tables.close()
  }
}

export const suite = defineSuite<undefined>({
  setUp: noSetUp,
  parts: {
    sqlite: (_, options) =>
      withTempFolder(async (folder) => using(await openSqliteTables(folder), options, 'SQLite')),
    postgres: (_, options) =>
      withPostgres(async (url) => using(await openPostgresTables(url), options, 'Postgres')),
  },
})
