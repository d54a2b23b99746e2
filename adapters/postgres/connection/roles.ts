import { ask, endTransaction, type PostgresPoolClient } from './client.js'
import { isDenied } from './failures.js'

/**
 * Returns an error that names the role, if the server has refused a right to another role than the one that has
 * connected; otherwise the given error. The host may have left SET ROLE behind, so the work may succeed on another
 * connection. Ends the transaction of the client.
 */
export async function namingRole(client: PostgresPoolClient, error: unknown): Promise<unknown> {
  if (!isDenied(error)) return error
  try {
    await endTransaction(client, 'ROLLBACK')
    const [row] = await ask(client, 'SELECT current_user')
    const role = row![0]
    if (client.user === undefined || role === client.user) return error
    return new Error(
      `${(error as Error).message}: the connection of ${client.user} has the role ${role}: RESET ROLE before the client is released, or grant the rights to ${role}`,
    )
  } catch {
    return error
  }
}
