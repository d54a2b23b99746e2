import { damagedFile } from '../connection/database.js'
import type { Connection } from '../connection/connection.js'

/**
 * The row of a statement over tables of one row, whose columns have whole numbers. Throws an error of a damaged file
 * if there is none, or if a value is none.
 */
export const onlyRow = ({ statement }: Connection, sql: string): object =>
  checkRow(statement(sql).get() as object | undefined, sql)

/** Throws an error of a damaged file unless all values of the row are whole numbers. */
export function checkRow<Row extends object>(row: Row | undefined, sql: string): Row {
  if (row && Object.values(row).every(Number.isSafeInteger)) return row
  const tables = [...new Set(sql.match(/daybook_(index|high_water)/g))].join(' or ')
  throw damagedFile(`the row of ${tables} is missing or has no numbers`)
}
