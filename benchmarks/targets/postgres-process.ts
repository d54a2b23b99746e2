import { callConcurrently, createMeter, type TrialResult } from '../harness/meter.js'
import { readSetup, servePreparedJobs } from '../harness/workers.js'
import { openWriter, type Task } from './postgres-writers.js'

/* One of the processes that write events to a Postgres server at the same time. */

export interface Job extends Task {
  readonly seconds: number
  /** Concurrent callers. */
  readonly inFlight: number
  /** Each caller has a writer of its own, with connections of its own. @default false */
  readonly hasOwnWriters?: boolean
}

export interface Answer extends TrialResult {
  /** Events of all calls that succeeded, measured or not. */
  readonly stored: number
}

const url = readSetup() as string

servePreparedJobs(async (job: Job): Promise<() => Promise<Answer>> => {
  const { seconds, inFlight, batch, hasOwnWriters = false } = job
  const batches: number[] = []
  const count = hasOwnWriters ? inFlight : 1
  const opening = Array.from({ length: count }, (_, i) => {
    const task = { ...job, processNumber: job.processNumber * count + i }
    return openWriter(url, task, (events) => batches.push(events))
  })
  const writers = await Promise.all(opening)
  // The first call connects and prepares statements.
  for (const writer of writers) await writer.call(0)
  let stored = batch * count
  batches.length = 0
  return async () => {
    const meter = createMeter(seconds)
    await callConcurrently(meter, inFlight, async (caller) => {
      await writers[caller % count]!.call(caller)
      stored += batch
      return batch
    })
    for (const writer of writers) await writer.close()
    // All batches, measured or not: with many processes few of them fall into the measured time.
    const meanBatch = batches.reduce((a, b) => a + b, 0) / batches.length
    return { ...meter.result(), meanBatch, stored }
  }
})
