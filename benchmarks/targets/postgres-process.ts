import { createMeter, type TrialResult } from '../harness/meter.js'
import { open, type Task } from './postgres-writers.js'
import { serve } from '../harness/workers.js'

/*
 * One of the processes that put events into Postgres: `postgres-trial.ts <JSON of the server's URL>`.
 * To each Job that it is sent it gives an Answer.
 */

export interface Job extends Task {
  readonly seconds: number
  /** So many callers, each of which makes its next call when the last is answered. */
  readonly inFlight: number
}

export interface Answer extends TrialResult {
  /** Events of all calls that were answered, measured or not. */
  readonly stored: number
}

const url = JSON.parse(process.argv[2] ?? '') as string

serve(async (job: Job): Promise<() => Promise<Answer>> => {
  const { seconds, inFlight, batch } = job
  const batches: number[] = []
  const running = await open(url, job, (events) => batches.push(events))
  // Connects, and does whatever else only the first call has to do.
  await running.call(0)
  let stored = batch
  batches.length = 0
  return async () => {
    const meter = createMeter(seconds)
    const callAgain = async (caller: number): Promise<void> => {
      while (!meter.isOver()) {
        const start = performance.now()
        await running.call(caller)
        meter.finished(start, batch)
        stored += batch
      }
    }
    await Promise.all(Array.from({ length: inFlight }, (_, caller) => callAgain(caller)))
    await running.close()
    const meanBatch = batches.reduce((a, b) => a + b, 0) / batches.length
    // Not the meter's: batches of many processes are few in the measured stretch.
    return { ...meter.result(), meanBatch, stored }
  }
})
