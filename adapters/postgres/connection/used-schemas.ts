import { perObject } from '../../../src/store/per-object.js'
import { closeOnReturn, isPooled, type PostgresPoolClient } from './client.js'

/** How many logs more than the open ones a connection is used for. */
export const MAX_CLOSED_LOGS = 50

/**
 * The schemas that the connections of a pool have been used for. The server process of a connection keeps what it has
 * read of each schema, and the plans of its functions, until it ends. Whenever any session creates a table, it searches
 * all these plans.
 */
export interface UsedSchemas {
  /** A connection that has been used for many logs which are closed by now is not returned to its pool. */
  note(client: PostgresPoolClient, schema: string): void
}

export function createUsedSchemas(openLogs: () => number): UsedSchemas {
  const used = perObject<PostgresPoolClient, Set<string>>(() => new Set())

  return {
    note(client, schema) {
      const schemas = used(client)
      schemas.add(schema)
      // The connections of a pooler to the server stay.
      if (schemas.size > openLogs() + MAX_CLOSED_LOGS && !isPooled(client)) closeOnReturn(client)
    },
  }
}
