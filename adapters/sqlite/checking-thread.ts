import { parentPort, workerData } from 'node:worker_threads'
import { loadDriverInThread } from './connection/thread.js'
import { type CheckingOptions, integrityOf } from './check-file.js'

/* The entry of the thread that `withFileCheck` starts. */

const port = parentPort!
const { filename, driver } = workerData as CheckingOptions
const database = loadDriverInThread(driver).open(filename, { timeout: 10_000, readonly: true })

port.on('message', (table: string) => port.postMessage(integrityOf(database, table), []))
port.postMessage('ready', [])
