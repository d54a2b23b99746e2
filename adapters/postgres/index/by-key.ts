import { ask, askLast, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'

/** Index scans only, in this transaction. */
export const ONLY_KEY = 'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off'

/**
 * Runs statements outside of a transaction. If some events cannot be read, they are read along the key, as
 * a scan of the table would read all of its pages.
 */
export async function byKey<Result>(
  client: PostgresPoolClient,
  { readable }: Names,
  act: () => Promise<Result>,
): Promise<Result> {
  if (readable.isWhole()) return act()
  await askLast(client, `BEGIN; ${ONLY_KEY}`)
  const result = await act()
  await ask(client, 'COMMIT')
  return result
}
