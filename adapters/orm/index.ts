export type { SqlTransaction } from '../../src/store/sql-transaction.js'
export { fromKysely, type KyselyTransaction } from './kysely.js'
