import { AuditLog, formatTimestamp, type ImportedEvent } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { eventId } from '../../src/event/event-id.js'
import { createRandom } from '../harness/random.js'
import { createSampler } from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that imports events into a Postgres log, evenly spread over many days with a partition each. */

export interface Setup {
  readonly url: string
  /** `created_at` of the first event, in microseconds. */
  readonly start: number
  /** Microseconds from one event to the next. */
  readonly step: number
  /** Number of events that the log has already. */
  readonly from: number
}

/** The number of events to import. */
export type Job = number

/** Size of the attributes as JSON text. */
export type Answer = number

const BATCH = 5000

const { url, start, step, from } = readSetup() as Setup

const store = postgresStore({ connectionString: url, partitions: 'day', maxUnindexed: 1e6 })
const audit = new AuditLog({ store, types: {} })
const random = createRandom(1 + from)
const next = createSampler(1 + from, from)
let at = from

function makeEvent(): ImportedEvent {
  const { type, data, username } = next()
  const time = Math.floor(start + at++ * step)
  return {
    event: {
      id: eventId(time, random.hex(16)),
      created_at: formatTimestamp(time),
      type,
      username,
      system: false,
      source: null,
      attributes: data as ImportedEvent['event']['attributes'],
    },
    time,
    json: JSON.stringify(data),
  }
}

async function importSome(count: number): Promise<Answer> {
  let jsonBytes = 0
  let importing: Promise<unknown> = Promise.resolve()
  for (let done = 0; done < count; done += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - done) }, makeEvent)
    for (const { json } of events) jsonBytes += Buffer.byteLength(json)
    await importing
    importing = store.importEvents(events)
    // While the server works, the next events are made.
    importing.catch(() => {})
  }
  await importing
  return jsonBytes
}

serveJobs(importSome, () => audit.close())
