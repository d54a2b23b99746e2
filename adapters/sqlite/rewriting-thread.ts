import { parentPort, workerData } from 'node:worker_threads'
import { loadDriverInThread } from './connection/thread.js'
import {
  openForRewriting,
  type RewritingOptions,
  type RewritingStep,
  runStep,
} from './rewrite-file.js'

/* The entry of the thread that `rewriteFile` starts. */

const port = parentPort!
const { filename, driver } = workerData as RewritingOptions
const database = openForRewriting(filename, loadDriverInThread(driver))

port.on('message', (step: RewritingStep) => port.postMessage(runStep(database, step), []))
port.postMessage('ready', [])
