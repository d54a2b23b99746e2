import { parentPort, workerData } from 'node:worker_threads'
import { loadDriver } from '../connection/database.js'
import { restForWriters } from './pacing.js'
import { localRunner, type RunnerOptions } from './runner.js'
import type { FromThread, ToThread } from './start-sealing-thread.js'

/* The entry of the thread that `startSealingThread` starts. */

// This thread has nothing else to do.
const LOCK_WAIT_MS = 1000

const port = parentPort!
const tell = (message: FromThread): void => port.postMessage(message)

// Where the driver cannot be loaded in a thread this throws, and the main thread does the work.
loadDriver()
const runner = localRunner(workerData as RunnerOptions, restForWriters, LOCK_WAIT_MS)

const acts: Readonly<Record<ToThread, () => Promise<void>>> = {
  async run() {
    try {
      tell({ end: await runner.run() })
    } catch (error) {
      tell({ failure: error instanceof Error ? error.message : String(error) })
    }
  },
  async stop() {
    await runner.close()
    port.close()
  },
}

port.on('message', (message: ToThread) => void acts[message]())
tell('ready')
