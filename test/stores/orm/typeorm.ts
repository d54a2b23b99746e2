import { fromTypeOrm } from 'daybook/orm'
import { DataSource, type EntityManager, EntitySchema } from 'typeorm'
import type { Library, LibraryUnderTest, Place, Scope } from './library.js'

const Order = new EntitySchema<{ n: number }>({
  name: 'Order',
  tableName: 'orders',
  columns: { n: { type: Number, primary: true } },
})

async function connect(place: Place): Promise<DataSource> {
  const source = new DataSource(
    'url' in place
      ? { type: 'postgres', url: place.url, entities: [Order] }
      : { type: 'better-sqlite3', database: place.filename, entities: [Order] },
  )
  return source.initialize()
}

const scope = (manager: EntityManager): Scope => ({
  handle: () => fromTypeOrm(manager),
  insertOrder: (n) => manager.insert(Order, { n }),
  savepoint: (act) => manager.transaction(async (inner) => act(scope(inner))),
})

export const typeOrm: LibraryUnderTest = {
  name: 'TypeORM',
  nests: true,
  async open(place): Promise<Library> {
    const source = await connect(place)
    return {
      transaction: (act) => source.transaction(async (manager) => act(scope(manager))),
      outside: {
        // @ts-expect-error The compiler refuses a data source too.
        'a data source': () => fromTypeOrm(source),
        'its manager': () => fromTypeOrm(source.manager),
        'the data source itself': () => source,
        'its manager itself': () => source.manager,
        'a query runner': async () => {
          const runner = source.createQueryRunner()
          try {
            return fromTypeOrm(runner)
          } finally {
            await runner.release()
          }
        },
      },
      close: () => source.destroy(),
    }
  },
}

export const typeOrmRunner: LibraryUnderTest = {
  name: 'TypeORM with a query runner',
  nests: true,
  async open(place): Promise<Library> {
    const source = await connect(place)
    return {
      async transaction(act) {
        const runner = source.createQueryRunner()
        const nested = async (run: (inner: Scope) => unknown): Promise<void> => {
          await runner.startTransaction()
          try {
            await run(inRunner)
            await runner.commitTransaction()
          } catch (error) {
            await runner.rollbackTransaction()
            throw error
          }
        }
        const inRunner: Scope = {
          ...scope(runner.manager),
          handle: () => fromTypeOrm(runner),
          savepoint: nested,
        }
        try {
          await nested(act)
        } finally {
          await runner.release()
        }
      },
      outside: {},
      close: () => source.destroy(),
    }
  },
}
