import { parentPort, workerData } from 'node:worker_threads'
import { loadDriver } from './connection/database.js'
import { integrityOf } from './check-file.js'

/* The entry of the thread that `withFileCheck` starts. */

const port = parentPort!
const Database = loadDriver()
const database = new Database(workerData as string, { timeout: 10_000, readonly: true })

port.on('message', (table: string) => port.postMessage(integrityOf(database, table), []))
port.postMessage('ready', [])
