import { parentPort, workerData } from 'node:worker_threads'
import { loadDriver } from './connection/driver.js'
import { type CheckingOptions, integrityOf } from './check-file.js'

/* The entry of the thread that `withFileCheck` starts. */

const port = parentPort!
const { filename, driver } = workerData as CheckingOptions
const database = loadDriver(driver).open(filename, { timeout: 10_000, readonly: true })

port.on('message', (table: string) => port.postMessage(integrityOf(database, table), []))
port.postMessage('ready', [])
