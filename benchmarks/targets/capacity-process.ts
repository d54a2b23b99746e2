import { AuditLog } from 'daybook'
import { type StoreSetup, openStore } from '../harness/open-store.js'
import {
  callConcurrently,
  createMeter,
  type TrialResult,
  withCommitHook,
} from '../harness/meter.js'
import { createSampler, sampleLinks, sampleTypes } from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that records with calls in flight, and counts commits and processor time. */

export type Job = { readonly inFlight: number; readonly seconds: number } | 'spent'

/** Totals of this process. */
export interface ProcessSpent {
  readonly commits: number
  readonly events: number
  /** Milliseconds of processor time. */
  readonly cpu: number
}

let commits = 0
let events = 0
const store = withCommitHook(openStore(readSetup() as StoreSetup), (count) => {
  commits++
  events += count
})
const audit = new AuditLog({ store, types: sampleTypes, links: sampleLinks })
const next = createSampler(7)

async function recordInFlight(inFlight: number, seconds: number): Promise<TrialResult> {
  const meter = createMeter(seconds)
  await callConcurrently(meter, inFlight, async () => {
    const { type, data, username } = next()
    await audit.record(type, data, { username })
    meter.committed(1)
    return 1
  })
  return meter.result()
}

function spent(): ProcessSpent {
  const { user, system } = process.cpuUsage()
  return { commits, events, cpu: (user + system) / 1000 }
}

serveJobs(
  (job: Job) => (job === 'spent' ? spent() : recordInFlight(job.inFlight, job.seconds)),
  () => audit.close(),
)
