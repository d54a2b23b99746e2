import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, AuditLogError } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { watchEventLoop } from '../harness/load.js'
import {
  callConcurrently,
  createMeter,
  type Meter,
  TIMED_CALLS,
  type TrialResult,
  withCommitHook,
} from '../harness/meter.js'
import { sampleLinks, sampleTypes } from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import type { JsonTime } from './raw-sqlite.js'
import { openSqlitePeer, type SqlitePeer } from './sqlite-peers.js'
import { EVENTS, measurePlain, measureRaw } from './sqlite-rows.js'

/* A process that runs one trial on a new SQLite file. */

export type Trial = {
  readonly filename: string
  /** Measured time; a warm-up of a third of that comes first. */
  readonly seconds: number
} & (
  | { readonly kind: 'record'; readonly inFlight: number }
  /** better-sqlite3 inserts the store's rows, `batch` of them in a transaction. */
  | { readonly kind: 'plain'; readonly batch: number; readonly json: JsonTime }
  /** better-sqlite3 inserts rows of JSON text. */
  | { readonly kind: 'raw'; readonly batch: number; readonly json: JsonTime }
  /** Calls `record` at a constant rate, whether earlier calls have been answered or not. */
  | { readonly kind: 'paced'; readonly perSecond: number }
  | { readonly kind: SqlitePeer; readonly inFlight: number }
)

function openAudit(filename: string, meter: Meter): AuditLog<typeof sampleTypes> {
  const store = withCommitHook(sqliteStore({ filename }), meter.committed)
  return new AuditLog({ store, types: sampleTypes, links: sampleLinks, strict: true })
}

async function measureRecord({
  filename,
  seconds,
  inFlight,
}: Extract<Trial, { readonly kind: 'record' }>): Promise<TrialResult> {
  const meter = createMeter(seconds)
  const audit = openAudit(filename, meter)
  let calls = 0
  await callConcurrently(meter, inFlight, async () => {
    const { type, data, username } = EVENTS[calls++ % EVENTS.length]!
    await audit.record(type, data, { username })
    return 1
  })
  await audit.close()
  return meter.result()
}

async function measurePaced(filename: string, seconds: number, rate: number): Promise<TrialResult> {
  const meter = createMeter(seconds)
  const audit = openAudit(filename, meter)
  const loopDelay = watchEventLoop((seconds * 1000) / 3)
  const calls: Promise<void>[] = []
  const call = async (due: number): Promise<void> => {
    const index = calls.length
    const { type, data, username } = EVENTS[index % EVENTS.length]!
    try {
      await audit.record(type, data, { username })
      if (index % TIMED_CALLS === 0) meter.finished(due, 1)
      else meter.counted(1)
    } catch (error) {
      // The measured rate shows it when the machine does not keep up.
      if (!(error instanceof AuditLogError)) throw error
    }
  }
  const begin = performance.now()
  while (!meter.isOver) {
    meter.check()
    const due = ((performance.now() - begin) / 1000) * rate
    while (calls.length < due) calls.push(call(begin + (calls.length / rate) * 1000))
    await delay(1)
  }
  await Promise.all(calls)
  const { p99 } = loopDelay()
  await audit.close()
  return { ...meter.result(), blockedP99: p99 }
}

async function measurePeer(
  peer: SqlitePeer,
  filename: string,
  seconds: number,
  inFlight: number,
): Promise<TrialResult> {
  const { insert, count, close } = await openSqlitePeer(peer, filename)
  // The first call connects and prepares statements.
  await insert(EVENTS[0]!, 0)
  const meter = createMeter(seconds)
  let stored = 1
  await callConcurrently(meter, inFlight, async (caller) => {
    await insert(EVENTS[stored++ % EVENTS.length]!, caller)
    return 1
  })
  const rows = await count()
  await close()
  if (rows !== stored) throw new Error(`${peer}: ${stored} inserts succeeded, ${rows} rows exist`)
  return meter.result()
}

function measure(trial: Trial): Promise<TrialResult> {
  const { filename, seconds } = trial
  switch (trial.kind) {
    case 'record':
      return measureRecord(trial)
    case 'plain':
      return measurePlain(trial)
    case 'raw':
      return measureRaw(trial)
    case 'paced':
      return measurePaced(filename, seconds, trial.perSecond)
    case 'knex':
    case 'typeorm':
    case 'emmett':
      return measurePeer(trial.kind, filename, seconds, trial.inFlight)
  }
}

serveJobs(() => measure(readSetup() as Trial))
