import type { PostgresPoolClient } from '../connection/client.js'
import { createPoolingDetector, type PoolingDetector } from '../connection/pooling.js'
import { type KeyNames, prepareKeys } from '../schema/subject-keys.js'
import { createDoubts } from './doubts.js'
import { createUse, createWrite, type PostgresLog } from './log.js'
import type { Server } from './options.js'

/** Connections to a database with the tables of keys, which the first use creates. */
export function createKeyDatabase(
  { pool, timelines, findPrimary }: Server,
  names: KeyNames,
): Pick<PostgresLog, 'use' | 'write'> {
  const doubts = createDoubts()
  let isPrepared = false
  const check = async (client: PostgresPoolClient, detector: PoolingDetector): Promise<void> => {
    // Behind a pooler, the same connection may lead to another server than before.
    await timelines.check(client, (await detector.detect(client)) === 'transaction')
    if (!isPrepared) await prepareKeys(client, names)
    isPrepared = true
  }
  const useOf = createUse({ check, doubts, findPrimary })
  const connections = { pool, pooling: createPoolingDetector(pool) }
  const use: PostgresLog['use'] = (signal, act, end) => useOf(connections, signal, act, end)
  return { use, write: createWrite(use, doubts) }
}
