import fs from 'node:fs'
import { workerData } from 'node:worker_threads'
import { loadDriverInThread } from '../../../adapters/sqlite/connection/thread.js'

/* A thread that loads its driver slowly. */
const { begun, loaded } = workerData as { readonly begun: string; readonly loaded: string }
fs.writeFileSync(begun, '')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
fs.writeFileSync(loaded, '')
loadDriverInThread('better-sqlite3')
