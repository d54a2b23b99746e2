import { AuditLogError } from '../../../src/errors.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import { nodeSql } from './citus.js'
import { readVersion } from '../schema/migrate.js'
import type { Names } from '../schema/names.js'

/** The state of Citus in a database. */
interface Distribution {
  /** True if it has the extension, and a node that takes tables. */
  readonly isPossible: boolean
  /** True if Citus places the log's schema. */
  readonly isPlaced: boolean
}

async function readDistribution(
  client: PostgresPoolClient,
  { schema }: Names,
): Promise<Distribution> {
  const [found] = await ask(client, `SELECT to_regclass('pg_catalog.pg_dist_schema') IS NOT NULL`)
  if (found![0] !== 't') return { isPossible: false, isPlaced: false }
  const [row] = await ask(
    client,
    `SELECT
       EXISTS (SELECT FROM pg_catalog.pg_dist_node
         WHERE isactive AND shouldhaveshards AND noderole = 'primary'),
       EXISTS (SELECT FROM pg_catalog.pg_dist_schema WHERE schemaid = to_regnamespace($1))`,
    schema,
  )
  return { isPossible: row![0] === 't', isPlaced: row![1] === 't' }
}

const refused = (message: string): AuditLogError => new AuditLogError('STORE_FAILED', message)

/**
 * True if Citus places the log, or will place it once it is created; false if it does not exist and may not be created.
 * Throws `STORE_FAILED` if Citus cannot place it.
 */
export async function isOnCitus(
  client: PostgresPoolClient,
  names: Names,
  mayCreate: boolean,
): Promise<boolean> {
  const { isPossible, isPlaced } = await readDistribution(client, names)
  const exists = (await readVersion(client, names)) > 0
  if (!isPossible && !isPlaced)
    throw refused('citus is true, but the database has no Citus with a node that takes tables')
  if (exists && !isPlaced)
    throw refused(
      `citus is true, but the log in the schema ${names.schema} was created without Citus: export it, and import it into another schema`,
    )
  if (exists) return true
  if (isPlaced)
    throw refused(
      `Citus has the schema ${names.schema} already, but it holds no log: run citus_schema_undistribute for it, or drop it`,
    )
  return mayCreate
}

/** The address of the node that holds the log. */
export async function findNode(
  client: PostgresPoolClient,
  names: Names,
): Promise<string | undefined> {
  const [row] = await ask(client, nodeSql(names))
  if (!row) return undefined
  const [host, port] = row
  return host!.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
