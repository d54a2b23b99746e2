import os from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { loadDriverInThread } from '../connection/thread.js'
import { pacerInThread } from './pacing.js'
import { createRoundRunner, type RunnerOptions } from './round-runner.js'
import type { FromThread, Order } from './start-sealing-thread.js'

/* The entry of the thread that `startSealingThread` starts. */

/** Blocks the thread for longer than the main one may: it has nothing else to do while it waits for a lock. */
const LOCK_WAIT_MS = 1000

const NICENESS = 5

/** Where threads compete for processors, recording and the host's own work come first. */
function yieldToOthers(): void {
  // Elsewhere this would be the priority of the whole process.
  if (process.platform !== 'linux') return
  try {
    os.setPriority(NICENESS)
  } catch {
    // A sandbox may forbid it.
  }
}
yieldToOthers()

const port = parentPort!
const post = (message: FromThread): void => port.postMessage(message)

const options = workerData as RunnerOptions
// Throws if the driver cannot be loaded in a thread; the main thread then builds the index.
loadDriverInThread(options.driver)
const runner = createRoundRunner(options, pacerInThread, LOCK_WAIT_MS)

async function run(isEarly: boolean): Promise<void> {
  try {
    post({ end: await runner.run(isEarly) })
  } catch (error) {
    post({ failure: error instanceof Error ? error.message : String(error) })
  }
}

const handlers: Readonly<Record<Order, () => Promise<void>>> = {
  run: () => run(false),
  runEarly: () => run(true),
  async checkpoint() {
    try {
      runner.checkpoint()
    } catch {
      // The next one tries again; calls that use the file report its errors.
    }
  },
  async stop() {
    await runner.close()
    // Ends the thread. The port of Deno has no `close`.
    port.unref()
  },
}

port.on('message', (message: Order) => void handlers[message]())
post('ready')
