import { AuditLogError } from '../../../src/errors.js'
import { ask, type PostgresPoolClient } from './client.js'
import { isCorrupt } from './failures.js'

/** The failure of work for which the server could not read a table. */
export class UnreadableTable extends AuditLogError {
  /** Without its schema. */
  readonly table: string

  constructor(schema: string, table: string, cause: Error) {
    const remedy = 'restore it from a replica or a backup'
    super(
      'STORE_FAILED',
      `the Postgres server cannot read the table ${schema}.${table}: ${cause.message}; ${remedy}`,
      { cause },
    )
    this.table = table
  }
}

/** Messages name the file of a table or of an index, or else the index or the TOAST table. */
const FILE = /(?:relation|file) "?(?:base|pg_tblspc)\/(?:[^\s"/]+\/)*(\d+)/
const RELATION = /\b(pg_toast_\d+)\b|\bindex "([^"]+)"/

const TABLE_OF = `SELECT DISTINCT named.relnamespace::regnamespace::text, named.relname
  FROM pg_class AS found
    LEFT JOIN pg_index ON indexrelid = found.oid
    LEFT JOIN pg_class AS owner ON owner.reltoastrelid = coalesce(indrelid, found.oid)
    JOIN pg_class AS named ON named.oid = coalesce(owner.oid, indrelid, found.oid)
  WHERE pg_relation_filenode(found.oid) = $1::oid OR found.relname = $2`

/**
 * Returns {@link UnreadableTable} if the server has found damage and its message names the table, otherwise the given
 * error. Ends the transaction of the client.
 */
export async function namingTable(client: PostgresPoolClient, error: unknown): Promise<unknown> {
  if (error instanceof AuditLogError || !isCorrupt(error)) return error
  const cause = error as Error
  const file = FILE.exec(cause.message)?.[1]
  const [, toast, index] = RELATION.exec(cause.message) ?? []
  if (file === undefined && toast === undefined && index === undefined) return error
  try {
    await ask(client, 'ROLLBACK')
    const tables = await ask(client, TABLE_OF, file ?? null, toast ?? index ?? null)
    // Logs in several schemas have indexes of the same name.
    const [schema, table] = tables.length === 1 ? tables[0]! : []
    return schema && table ? new UnreadableTable(schema, table, cause) : error
  } catch {
    return error
  }
}
