export { fromParquet } from './from-parquet.js'
export { toParquet } from './to-parquet.js'
export {
  type ParquetOptions,
  type ParquetWriter,
  parquetWriter,
  type RowGroupLimits,
} from './writer.js'
