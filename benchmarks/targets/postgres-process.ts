import { callConcurrently, createMeter, type TrialResult } from '../harness/meter.js'
import { readSetup, servePreparedJobs } from '../harness/workers.js'
import type { Task } from './postgres-task.js'
import { openWriter } from './postgres-writers.js'

/* One of the processes that write events to a Postgres server at the same time. */

export interface Job extends Task {
  readonly seconds: number
  /** Concurrent callers. */
  readonly inFlight: number
}

export interface Answer extends TrialResult {
  /** Events of all calls that succeeded, measured or not. */
  readonly stored: number
}

const url = readSetup() as string

servePreparedJobs(async (job: Job): Promise<() => Promise<Answer>> => {
  const { seconds, inFlight, batch } = job
  const batches: number[] = []
  const writer = await openWriter(url, job, (events) => batches.push(events))
  // The first call connects and prepares statements.
  await writer.call(0)
  let stored = batch
  batches.length = 0
  return async () => {
    const meter = createMeter(seconds)
    await callConcurrently(meter, inFlight, async (caller) => {
      await writer.call(caller)
      stored += batch
      return batch
    })
    await writer.close()
    // All batches, measured or not: with many processes few of them fall into the measured time.
    const meanBatch = batches.reduce((a, b) => a + b, 0) / batches.length
    return { ...meter.result(), meanBatch, stored }
  }
})
