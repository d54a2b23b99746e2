import { createPostgresStore } from '../../adapters/postgres/postgres-store.js'
import type { SealingTuning } from '../../src/store-kit/index-builder/segment-levels.js'

/** Opens a new store, waits until the index is built, and closes the store. */
export async function sealPostgres(
  connectionString: string,
  schema: string,
  tuning: SealingTuning,
): Promise<void> {
  const { store, sealer } = createPostgresStore({ connectionString, schema }, { tuning })
  try {
    await sealer.settled()
  } finally {
    await store.close()
  }
}
