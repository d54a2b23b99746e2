import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { askNode } from './citus.js'

/** Schemas of one test file on a cluster of Citus. */
export interface CitusSchemas {
  take(): string
  /** The address of the node that has the schema. */
  nodeOf(schema: string): Promise<string>
  /** Moves the schema to another of the nodes. Resolves to the address of that node. */
  move(schema: string, nodes: readonly string[]): Promise<string>
  drop(schema: string): Promise<void>
}

export function citusSchemas(url: string, prefix: string): CitusSchemas {
  const run = randomUUID().slice(0, 8)
  let taken = 0
  const nodeOf = async (schema: string): Promise<string> => {
    const [row] = await askNode(
      url,
      `SELECT nodename || ':' || nodeport FROM pg_dist_shard JOIN pg_dist_placement USING (shardid)
         JOIN pg_dist_node USING (groupid) WHERE logicalrelid = to_regclass($1) AND noderole = 'primary'`,
      [`${pg.escapeIdentifier(schema)}.schema_version`],
    )
    return String(row![0])
  }
  return {
    take: () => `${prefix} ${run} ${taken++}`,
    nodeOf,
    async move(schema, nodes) {
      // Removes the remains of the last move.
      await askNode(url, 'CALL citus_cleanup_orphaned_resources()')
      const before = await nodeOf(schema)
      const target = nodes.find((node) => node !== before)!
      const [host, port] = target.split(':')
      await askNode(url, `SELECT citus_schema_move($1::regnamespace, $2::text, $3::int)`, [
        pg.escapeIdentifier(schema),
        host,
        port,
      ])
      return target
    },
    async drop(schema) {
      await askNode(url, `DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(schema)} CASCADE`)
    },
  }
}
