import type { SqlTransaction } from '../../../src/store/sql-transaction.js'
import { storeFailure } from '../connection/connection.js'
import type { SqliteDatabase } from '../connection/database.js'
import { refused } from '../connection/host-handle.js'
import { ADDRESS, ADDRESS_PARAMETER, addressIn } from '../connection/library.js'

// The connection must be of the library that the store uses; see library.ts.
const LIBRARY = `sqlite_source_id() || (SELECT group_concat(compile_options) FROM pragma_compile_options)`
const FILE = `(SELECT file FROM pragma_database_list WHERE name = 'main')`

interface Place {
  readonly library: string
  readonly file: string | null
}

const PLACE = `SELECT ${LIBRARY} AS library, ${FILE} AS file`

/** Inserts rows through libraries of the host, on connections that the store cannot see. */
export interface LibraryInsert {
  /**
   * Inserts one row; the library has the statement when the call returns. Rejects with `INVALID_OPTION`
   * if its connection is not open on the store's file, through the store's copy of SQLite.
   */
  insert(transaction: SqlTransaction, values: readonly unknown[]): Promise<void>
}

export function createLibraryInsert(
  database: SqliteDatabase,
  { table, columns }: { readonly table: string; readonly columns: readonly string[] },
): LibraryInsert {
  const own = database.prepare(PLACE).get() as Place
  const address = addressIn(database)
  const params = columns.map(() => '?').join(', ')
  // Libraries of one build have the same functions.
  const isSameCopy = address === '' ? '' : ` AND ${ADDRESS} = ?`
  const text = `INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${params} WHERE ${LIBRARY} = ? AND ${FILE} = ?${isSameCopy} RETURNING 1 AS inserted`
  const expected = [own.library, own.file, ...(address === '' ? [] : [ADDRESS_PARAMETER, address])]

  /** Throws the reason why the insert had no effect. */
  const explain = async (transaction: SqlTransaction, cause: unknown): Promise<never> => {
    let place: Place | undefined
    try {
      place = ((await transaction.run(PLACE, [])) as readonly Place[])[0]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw refused(`the connection is not one of SQLite, or has ended: ${reason}`, cause ?? error)
    }
    if (place?.file !== own.file)
      throw refused(`the connection is open on ${place?.file || 'no file'}, not on ${own.file}`)
    if (place?.library !== own.library)
      throw refused(
        'the connection uses another build of SQLite than the store: use one driver for both',
      )
    if (cause === undefined)
      throw refused('the connection uses another copy of SQLite than the store: install one copy')
    throw storeFailure(cause)
  }

  return {
    async insert(transaction, values) {
      let rows: unknown
      try {
        rows = await transaction.run(text, [...values, ...expected])
      } catch (error) {
        return explain(transaction, error)
      }
      if (!Array.isArray(rows) || rows.length !== 1) await explain(transaction, undefined)
    },
  }
}
