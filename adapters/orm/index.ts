export type { SqlTransaction } from '../../src/store/sql-transaction.js'
export {
  type DrizzlePostgresTransaction,
  type DrizzleSqliteTransaction,
  type DrizzleTransaction,
  fromDrizzle,
} from './drizzle.js'
export { fromKnex, type KnexTransaction } from './knex.js'
export { fromKysely, type KyselyTransaction } from './kysely.js'
export { fromPrisma, type PrismaTransaction } from './prisma.js'
export { fromTypeOrm, type TypeOrmManager, type TypeOrmQueryRunner } from './typeorm.js'
