import { AuditLogError } from '../../../src/errors.js'
import { ask, endTransaction, type PostgresPoolClient } from './client.js'
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

/*
 * Messages name the file of a table or of an index, or else the index or the TOAST table. They are in the language that
 * `lc_messages` selects, so nothing but these names is looked for: the name of an index is among the words and quoted texts.
 */
const FILE = /\b(?:base|pg_tblspc)\/(?:[^\s"/]+\/)*(\d+)/
const QUOTED = /["«»„“”‘’'「」『』()\s]+/

const TABLE_OF = `SELECT DISTINCT nspname, named.relname
  FROM pg_catalog.pg_class AS found
    LEFT JOIN pg_catalog.pg_index ON indexrelid = found.oid
    LEFT JOIN pg_catalog.pg_class AS owner ON owner.reltoastrelid = coalesce(indrelid, found.oid)
    JOIN pg_catalog.pg_class AS named ON named.oid = coalesce(owner.oid, indrelid, found.oid)
    JOIN pg_catalog.pg_namespace AS space ON space.oid = named.relnamespace
  WHERE pg_relation_filenode(found.oid) = $1::oid
    OR found.relkind IN ('i', 't') AND found.relname = ANY ($2::text[])`

/**
 * Returns {@link UnreadableTable} if the server has found damage and its message names the table, otherwise the given
 * error. Ends the transaction of the client.
 */
export async function namingTable(client: PostgresPoolClient, error: unknown): Promise<unknown> {
  if (error instanceof AuditLogError || !isCorrupt(error)) return error
  const cause = error as Error
  const file = FILE.exec(cause.message)?.[1]
  const names = file === undefined ? cause.message.split(QUOTED) : []
  try {
    await endTransaction(client, 'ROLLBACK')
    const tables = await ask(client, TABLE_OF, file ?? null, names)
    // Logs in several schemas have indexes of the same name.
    const [schema, table] = tables.length === 1 ? tables[0]! : []
    return schema && table ? new UnreadableTable(schema, table, cause) : error
  } catch {
    return error
  }
}
