import Database from 'better-sqlite3'
import { AuditLog, AuditLogError, type EventStore } from 'daybook'
import * as orm from 'daybook/orm'
import { fromKysely, type SqlTransaction } from 'daybook/orm'
import * as onPostgres from 'daybook/postgres'
import { postgresStore } from 'daybook/postgres'
import * as onSqlite from 'daybook/sqlite'
import { sqliteStore } from 'daybook/sqlite'
import { Kysely, SqliteDialect } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { tempDir } from '../../support/temp.js'
import { drizzle } from './drizzle.js'
import { knex } from './knex.js'
import { kysely, kyselyControlled } from './kysely.js'
import {
  type Library,
  type LibraryUnderTest,
  type Place,
  runSteps,
  runStepsAtOnce,
  type Scope,
  type Step,
} from './library.js'
import { prisma } from './prisma.js'
import { typeOrm, typeOrmRunner } from './typeorm.js'

interface Databases {
  readonly store: EventStore
  readonly place: Place
  /** Another database, with a table of orders and no log. */
  readonly other: Place
  orders(): Promise<number[]>
  clearOrders(): Promise<unknown>
  /** Captures the rows of the table of orders. */
  capture(): Promise<unknown>
  stopCapture(): Promise<unknown>
  captureAs(transaction: SqlTransaction, actor: string, run: () => unknown): unknown
  remove(): Promise<unknown>
}

const CAPTURED = { tables: ['orders'], primaryKey: ['n'] }

const CREATE = 'CREATE TABLE orders (n integer)'
const SELECT = 'SELECT n FROM orders ORDER BY n'

function sqliteDatabases(): Databases {
  const temp = tempDir()
  const [filename, other] = [temp.file('audit.db'), temp.file('other.db')]
  const host = new Database(filename)
  host.exec(CREATE)
  new Database(other).exec(CREATE).close()
  return {
    store: sqliteStore({ filename }),
    place: { filename },
    other: { filename: other },
    orders: async () => host.prepare(SELECT).pluck().all() as number[],
    clearOrders: async () => host.exec('DELETE FROM orders'),
    capture: async () => onSqlite.captureChanges({ database: host, ...CAPTURED }),
    stopCapture: async () => onSqlite.removeCapture({ database: host }),
    captureAs: onSqlite.captureAs,
    async remove() {
      host.close()
      temp.remove()
    },
  }
}

let databases: readonly TestDatabase[]

beforeAll(async () => {
  databases = await Promise.all([postgresDatabase(), postgresDatabase()])
  await Promise.all(databases.map(({ pool }) => pool.query(CREATE)))
})
afterAll(() => Promise.all(databases.map((database) => database.remove())))

function postgresDatabases(): Databases {
  const [log, other] = databases as [TestDatabase, TestDatabase]
  return {
    store: postgresStore({ pool: log.pool, schema: 'audit' }),
    place: { url: log.url },
    other: { url: other.url },
    async orders() {
      const { rows } = await log.pool.query<{ n: number }>(SELECT)
      return rows.map(({ n }) => n)
    },
    clearOrders: () => log.pool.query('DELETE FROM orders'),
    capture: () => onPostgres.captureChanges({ pool: log.pool, schema: 'audit', ...CAPTURED }),
    stopCapture: () => onPostgres.removeCapture({ pool: log.pool, schema: 'audit' }),
    captureAs: onPostgres.captureAs,
    remove: () => log.pool.query('DROP SCHEMA IF EXISTS audit CASCADE'),
  }
}

const stores = { SQLite: sqliteDatabases, Postgres: postgresDatabases }

const libraries: readonly LibraryUnderTest[] = [
  kysely,
  kyselyControlled,
  knex,
  drizzle,
  typeOrm,
  typeOrmRunner,
  prisma,
]

/** Text that query builders and drivers could mistake for something else. */
const HARD = String.raw`it's "5\" ? \? \\? ?? :n $1 @n %s \x3F` + '\n\u00E9\u{1F600} --/*'

describe.each(libraries)('$name', (under) => {
  describe.each(Object.keys(stores) as (keyof typeof stores)[])('on %s', (storeName) => {
    let given: Databases
    let audit: AuditLog
    let library: Library
    /** Distinguishes the events of the tests, which share a log. */
    let test = 0

    beforeAll(async () => {
      given = stores[storeName]()
      audit = new AuditLog({ store: given.store, types: {} })
      // Without a listener, losses become process warnings.
      audit.on('rejected', () => {})
      await audit.recordCustom('first')
      library = await under.open(given.place)
    })
    beforeEach(async () => {
      test++
      await given.clearOrders()
    })
    afterAll(async () => {
      await library.close()
      await audit.close()
      await given.remove()
    })

    const record = (handle: SqlTransaction, n: number): Promise<unknown> =>
      audit.recordCustom('order', { test, n, text: HARD }, { username: HARD, transaction: handle })

    /** The numbers of the recorded orders, in the order of the log. */
    async function recordedOrders(): Promise<unknown[]> {
      // An append stores the committed events of the outbox before its own.
      await audit.recordCustom('last')
      const filter = { type_eq: 'order', test_eq: test, sorts: 'created_at' }
      const { events } = await audit.list({ filter })
      for (const { username, attributes } of events)
        expect([username, attributes['text']]).toEqual([HARD, HARD])
      return events.map(({ attributes }) => attributes['n'])
    }

    async function transact(steps: readonly Step[], fails = false): Promise<void> {
      const calls: Promise<unknown>[] = []
      const call = (handle: SqlTransaction, n: number): Promise<unknown> => {
        calls.push(record(handle, n))
        return calls.at(-1)!
      }
      const done = library.transaction(
        library.isSynchronous
          ? (scope) => {
              runStepsAtOnce(steps, scope, call)
              if (fails) throw new Error('out of stock')
            }
          : async (scope) => {
              await runSteps(steps, scope, call)
              if (fails) throw new Error('out of stock')
            },
      )
      if (fails) await expect(done).rejects.toThrow('out of stock')
      else await done
      await Promise.all(calls)
    }

    /** Like `recordedOrders`. Also checks that the table has the same orders. */
    async function recorded(): Promise<unknown[]> {
      const numbers = await recordedOrders()
      expect(numbers.toSorted((a, b) => Number(a) - Number(b))).toEqual(await given.orders())
      return numbers
    }

    async function refusal(call: () => unknown): Promise<AuditLogError> {
      const error = await Promise.resolve()
        .then(call)
        .then(
          () => undefined,
          (reason: unknown) => reason,
        )
      expect(error).toBeInstanceOf(AuditLogError)
      return error as AuditLogError
    }

    it('events are stored with the commit', async () => {
      await transact([1, 2])
      await transact([3])
      expect(await recorded()).toEqual([1, 2, 3])
    })

    it('events are not stored after a rollback', async () => {
      await transact([1, 2], true)
      await transact([3])
      expect(await recorded()).toEqual([3])
    })

    if (under.nests)
      it('events of a savepoint share its outcome', async () => {
        await transact([
          1,
          { savepoint: [2, { savepoint: [3] }], fails: true },
          { savepoint: [4, { savepoint: [5], fails: true }, { savepoint: [6] }] },
          7,
        ])
        await transact([8, { savepoint: [9] }], true)
        expect(await recorded()).toEqual([1, 4, 6, 7])
      })

    it('rows that triggers capture have the actor of captureAs', async () => {
      await given.capture()
      const insertAs = (scope: Scope, actor: string, n: number): unknown =>
        given.captureAs(scope.handle(), actor, () => scope.insertOrder(n))
      const failing = (scope: Scope): unknown =>
        given.captureAs(scope.handle(), 'bob', () => {
          throw new Error('out of stock')
        })
      const commit = library.isSynchronous
        ? (scope: Scope): void => {
            insertAs(scope, 'ann', 1)
            scope.insertOrder(2)
            expect(() => failing(scope)).toThrow('out of stock')
            scope.insertOrder(3)
          }
        : async (scope: Scope): Promise<void> => {
            await insertAs(scope, 'ann', 1)
            await scope.insertOrder(2)
            await expect(failing(scope)).rejects.toThrow('out of stock')
            await scope.insertOrder(3)
          }
      await library.transaction(commit)
      await library.transaction((scope) => scope.insertOrder(4))
      expect(await given.orders()).toEqual([1, 2, 3, 4])

      await audit.recordCustom('last')
      const filter = { type_eq: 'audit:orders:create', sorts: 'created_at' }
      const { events } = await audit.list({ filter })
      expect(events.map(({ username, attributes }) => [attributes['order_id'], username])).toEqual([
        [1, 'ann'],
        [2, null],
        [3, null],
        [4, null],
      ])
      await given.stopCapture()
    })

    it('a connection without a transaction is refused', async () => {
      for (const [name, make] of Object.entries(library.outside)) {
        const call = async (): Promise<unknown> => {
          const transaction = (await make()) as SqlTransaction
          return record(transaction, 1)
        }
        expect([name, await refusal(call)]).toMatchObject([
          name,
          { code: 'INVALID_OPTION', message: expect.stringContaining('transaction') as string },
        ])
      }
      expect(await recorded()).toEqual([])
    })

    it('a transaction that has ended is refused', async () => {
      let handle: SqlTransaction | undefined
      await library.transaction((scope) => {
        handle = scope.handle()
      })
      // The error of the library, if it refuses the statement itself.
      const { code } = await refusal(() => record(handle!, 1))
      expect(['INVALID_OPTION', 'STORE_FAILED']).toContain(code)
      expect(await recorded()).toEqual([])
    })

    it('a call that was not awaited rejects, or shares the outcome', async () => {
      const resolved: number[] = []
      const transactUnawaited = async (n: number, fails: boolean): Promise<void> => {
        let call: Promise<unknown> | undefined
        const body = (scope: Scope): void => {
          call = record(scope.handle(), n).then(
            () => resolved.push(n),
            () => undefined,
          )
          if (fails) throw new Error('out of stock')
        }
        const act = async (scope: Scope): Promise<void> => {
          await scope.insertOrder(n)
          body(scope)
        }
        const actAtOnce = (scope: Scope): void => {
          scope.insertOrder(n)
          body(scope)
        }
        await library
          .transaction(library.isSynchronous ? actAtOnce : act)
          .catch((error: unknown) => expect(error).toMatchObject({ message: 'out of stock' }))
        await call
      }
      for (const n of [1, 2, 3, 4]) await transactUnawaited(n, n % 2 === 0)
      expect(await recordedOrders()).toEqual(resolved.filter((n) => n % 2 === 1))
    })

    it('a transaction of another database is refused', async () => {
      const other = await under.open(given.other)
      let call: Promise<AuditLogError> | undefined
      const done = other.transaction((scope) => {
        call = refusal(() => record(scope.handle(), 1))
        return library.isSynchronous ? undefined : call
      })
      await done.catch(() => undefined)
      expect(await call).toMatchObject({ code: 'INVALID_OPTION' })
      await other.close()
      expect(await recorded()).toEqual([])
    })
  })
})

it('a connection through another build of SQLite is refused', async () => {
  const given = sqliteDatabases()
  const { filename } = given.place as { filename: string }
  await using audit: AuditLog = new AuditLog({ store: given.store, types: {} })
  audit.on('rejected', () => {})
  const database = new Database(filename)
  // Answers as a connection of another build would.
  database.function('sqlite_source_id', () => '2020-01-01 00:00:00 other')
  const db = new Kysely<object>({ dialect: new SqliteDialect({ database }) })
  const call = db
    .transaction()
    .execute((trx) => audit.recordCustom('order', {}, { transaction: fromKysely(trx) }))
  await expect(call).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message:
      'transaction: the connection uses another build of SQLite than the store: use one driver for both',
  })
  expect(database.prepare('SELECT count(*) FROM daybook_outbox').pluck().get()).toBe(0)
  await db.destroy()
  await audit.close()
  await given.remove()
})

describe.each(Object.entries(orm))('%s', (_name, from: (transaction: never) => unknown) => {
  it.each([undefined, null, {}])('refuses %s', (value) => {
    const message = expect.stringContaining('no transaction is open; pass the') as string
    const refused = expect.objectContaining({ code: 'INVALID_OPTION', message }) as Error
    expect(() => from(value as never)).toThrow(refused)
  })
})
