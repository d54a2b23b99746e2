import { parentPort, workerData } from 'node:worker_threads'
import { AuditLogError } from '../../src/errors.js'
import { createConnection } from './connection/connection.js'
import { openDatabase } from './connection/database.js'
import { loadDriverInThread } from './connection/thread.js'
import { hashRest, joined } from './hash-events.js'
import type { Hashed, HashingOptions, HashingOrder } from './hashing.js'
import { createTables } from './schema/log-tables.js'

/* The entry of the thread that `createHasher` starts. */

const port = parentPort!
const options = workerData as HashingOptions
const driver = loadDriverInThread(options.driver)
// The last connection to a file empties its WAL, which one that only reads could not do.
const database = openDatabase(options.filename, () => {}, { driver, mustExist: true })
// The thread has nothing else to do while it waits for a lock.
database.pragma('busy_timeout = 1000')
const tables = createTables(createConnection(database, driver))

function hash({ request, first }: HashingOrder): Hashed {
  try {
    return joined([...hashRest(tables, request, first)])
  } catch (error) {
    const damaged = error instanceof AuditLogError && error.code === 'DAMAGED'
    return { failure: error instanceof Error ? error.message : String(error), damaged }
  }
}

port.on('message', (order: HashingOrder | 'stop') => {
  if (order !== 'stop') return port.postMessage(hash(order), [])
  database.close()
  // Ends the thread. The port of Deno has no `close`.
  port.unref()
})
port.postMessage('ready', [])
