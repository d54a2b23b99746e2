import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, AuditLogError } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { type SampleEvent, sampleTypes } from '../harness/sample-events.js'
import { createMeter, type Meter, metered, type TrialResult } from '../harness/meter.js'
import { EVENTS, measurePlain, measureRaw } from './sqlite-rows.js'
import { openSqlitePeer, type SqlitePeer } from './sqlite-peers.js'

/*
 * One trial in a process and a file of its own: `trial.ts <JSON of a Trial>` prints its TrialResult.
 * A profile of one: node --import tsx --cpu-prof benchmarks/trial.ts '{"kind":"record",…}'
 */

export type Trial = {
  readonly filename: string
  /** Length of the measured stretch; before it runs a third of that to warm up. */
  readonly seconds: number
} & (
  | { readonly kind: 'record'; readonly inFlight: number }
  /** Rows put in by better-sqlite3 alone, `batch` of them in one transaction. */
  | { readonly kind: 'plain'; readonly batch: number; readonly json: 'before' | 'inside' }
  /** Rows of JSON text made before, in a table written by hand. */
  | { readonly kind: 'raw'; readonly batch: number }
  /** `record` so many times a second, whether earlier calls are answered or not. */
  | { readonly kind: 'paced'; readonly perSecond: number }
  | { readonly kind: SqlitePeer; readonly inFlight: number }
)

/** So many callers, each of which makes its next call when the last is answered. */
async function callAgain(
  meter: Meter,
  inFlight: number,
  call: (event: SampleEvent, caller: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const again = async (_: unknown, caller: number): Promise<void> => {
    while (!meter.isOver()) {
      const event = EVENTS[next++ % EVENTS.length]!
      const start = performance.now()
      await call(event, caller)
      meter.finished(start, 1)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, again))
}

async function measureRecord(
  filename: string,
  seconds: number,
  inFlight: number,
): Promise<TrialResult> {
  const store = sqliteStore({ filename })
  const meter = createMeter(seconds)
  const audit = new AuditLog({
    store: metered(store, meter.committed),
    types: sampleTypes,
    strict: true,
  })
  await callAgain(meter, inFlight, ({ type, data, username }) =>
    audit.record(type, data, { username }),
  )
  await audit.close()
  return meter.result()
}

async function measurePaced(
  filename: string,
  seconds: number,
  perSecond: number,
): Promise<TrialResult> {
  const meter = createMeter(seconds)
  const store = metered(sqliteStore({ filename }), meter.committed)
  const audit = new AuditLog({ store, types: sampleTypes, strict: true })
  // A millisecond is what it takes when nothing blocks.
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const watch = setTimeout(() => loop.enable(), (seconds * 1000) / 3)
  const calls: Promise<void>[] = []
  const call = async (due: number): Promise<void> => {
    const { type, data, username } = EVENTS[calls.length % EVENTS.length]!
    try {
      await audit.record(type, data, { username })
      meter.finished(due, 1)
    } catch (error) {
      // The rate tells of it: the machine does not keep up.
      if (!(error instanceof AuditLogError && error.code === 'QUEUE_FULL')) throw error
    }
  }
  const begin = performance.now()
  while (!meter.isOver()) {
    const due = ((performance.now() - begin) / 1000) * perSecond
    while (calls.length < due) calls.push(call(begin + (calls.length / perSecond) * 1000))
    await delay(1)
  }
  await Promise.all(calls)
  clearTimeout(watch)
  loop.disable()
  await audit.close()
  return { ...meter.result(), blockedP99: loop.percentile(99) / 1e6 }
}

async function measurePeer(
  peer: SqlitePeer,
  filename: string,
  seconds: number,
  inFlight: number,
): Promise<TrialResult> {
  const { insert, count, close } = await openSqlitePeer(peer, filename)
  // Connects, and does whatever else only the first call has to do.
  await insert(EVENTS[0]!, 0)
  const meter = createMeter(seconds)
  let stored = 1
  await callAgain(meter, inFlight, async (event, caller) => {
    await insert(event, caller)
    stored++
  })
  const rows = await count()
  await close()
  if (rows !== stored)
    throw new Error(`${peer}: ${stored} events were acknowledged, ${rows} are there`)
  return meter.result()
}

function measure(trial: Trial): Promise<TrialResult> {
  const { filename, seconds } = trial
  switch (trial.kind) {
    case 'record':
      return measureRecord(filename, seconds, trial.inFlight)
    case 'plain':
      return measurePlain(filename, seconds, trial.batch, trial.json === 'inside')
    case 'raw':
      return measureRaw(filename, seconds, trial.batch)
    case 'paced':
      return measurePaced(filename, seconds, trial.perSecond)
    case 'knex':
    case 'typeorm':
    case 'emmett':
      return measurePeer(trial.kind, filename, seconds, trial.inFlight)
  }
}

console.log(JSON.stringify(await measure(JSON.parse(process.argv[2] ?? '') as Trial)))
