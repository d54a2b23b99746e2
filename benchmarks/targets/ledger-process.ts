import { hash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { generateKey, keyFile } from 'daybook/ledger'
import { type Recorded, recordAtRate, type Rate } from '../harness/constant-rate.js'
import { watchPostgresIndex, watchSqliteIndex } from '../harness/index-watch.js'
import { type LoopDelay, watchEventLoop } from '../harness/load.js'
import {
  callConcurrently,
  createMeter,
  type TrialResult,
  withCommitHook,
} from '../harness/meter.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import {
  fillLog,
  sampleEvents,
  sampleLinks,
  type SampleEvent,
  sampleTypes,
} from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import { fillTree } from './ledger-tree.js'
import { ledgerBytes, plainRead } from './ledger-tables.js'

/* A process that records with and without a ledger, seals, verifies and proves. */

export interface Setup {
  readonly place: StoreSetup
  /** Folder of the key. */
  readonly folder: string
}

export type Job =
  | {
      readonly kind: 'record'
      readonly inFlight: number
      readonly seconds: number
      readonly ledger: boolean
    }
  | ({ readonly kind: 'paced'; readonly ledger: boolean } & Rate)
  /** Begins a ledger, and records events that wait to be sealed. */
  | { readonly kind: 'fill'; readonly events: number }
  /** Seals the events that wait. */
  | { readonly kind: 'seal'; readonly events: number }
  | { readonly kind: 'verify' }
  | { readonly kind: 'read' }
  /** Proves events of a tree with this many leaves, most of which stand for no event. */
  | { readonly kind: 'prove'; readonly leaves: number }

export interface Paced extends Recorded {
  readonly loop: LoopDelay
  /** The most seconds between the present and the time up to which the ledger has sealed. */
  readonly behind: number
}

/** Time that something took for each event, in microseconds. */
export interface PerEvent {
  readonly wall: number
  /** Of all threads of the process. */
  readonly cpu: number
}

export interface Sealed {
  readonly sealing: PerEvent
  /** SHA-256 of the same bytes by `node:crypto`, twice an event. */
  readonly hashing: PerEvent
  /** Bytes of the tables of the ledger, for each leaf. */
  readonly bytes: number
}

export interface Proved {
  /** Milliseconds of each proof. */
  readonly milliseconds: readonly number[]
}

const { place, folder } = readSetup() as Setup
const KEY = path.join(folder, 'ledger.pem')
const ORIGIN = 'bench.example.com/ledger'
const EVENTS = sampleEvents(5000)
/** Events that are hashed to find out what hashing costs. */
const HASHED = 50_000
const PROOFS = 200
const SAMPLE_MS = 100

type Log = AuditLog<typeof sampleTypes>

async function open(hasLedger: boolean, store = openStore(place)): Promise<Log> {
  if (hasLedger && !fs.existsSync(KEY)) await generateKey(ORIGIN, KEY)
  return new AuditLog({
    store,
    types: sampleTypes,
    links: sampleLinks,
    ledger: hasLedger ? { origin: ORIGIN, signer: keyFile(KEY) } : undefined,
  })
}

async function measured(events: number, act: () => unknown): Promise<PerEvent> {
  const cpuBefore = process.cpuUsage()
  const start = performance.now()
  await act()
  const wall = ((performance.now() - start) * 1000) / events
  const { user, system } = process.cpuUsage(cpuBefore)
  return { wall, cpu: (user + system) / events }
}

async function record({ inFlight, seconds, ledger }: Extract<Job, { kind: 'record' }>) {
  const meter = createMeter(seconds)
  const audit = await open(ledger, withCommitHook(openStore(place), meter.committed))
  if (ledger) await audit.ledger.checkpoint()
  let calls = 0
  await callConcurrently(meter, inFlight, async () => {
    const { type, data, username } = EVENTS[calls++ % EVENTS.length]!
    await audit.record(type, data, { username })
    return 1
  })
  await audit.close()
  return meter.result()
}

const eventAt = (i: number): SampleEvent => EVENTS[i % EVENTS.length]!

async function recordPaced({ ledger, ...rate }: Extract<Job, { kind: 'paced' }>): Promise<Paced> {
  const store = openStore(place)
  const audit = await open(ledger, store)
  await fillLog(audit, 2000)
  if (ledger) await audit.ledger.checkpoint()
  const loopDelay = watchEventLoop(0)
  let [behind, isOver] = [0, false]
  const sample = async (): Promise<void> => {
    while (ledger && !isOver) {
      await delay(SAMPLE_MS)
      const state = await store.ledger!.state()
      behind = Math.max(behind, Date.now() / 1000 - state!.sealedTo / 1e6)
    }
  }
  const sampling = sample()
  const recorded = await recordAtRate(audit, rate, eventAt)
  isOver = true
  await sampling
  const loop = loopDelay()
  await audit.close()
  return { ...recorded, loop, behind }
}

/** Hashes the bytes of the salts, bodies and leaves of events, twice an event. */
async function hashOnly(audit: Log): Promise<PerEvent> {
  const bodies: Buffer[] = []
  for await (const events of audit.pages('limit=1000')) {
    for (const event of events) bodies.push(Buffer.from(`16 bytes of salt${JSON.stringify(event)}`))
    if (bodies.length >= HASHED) break
  }
  const leaf = Buffer.alloc(150, 'leaf')
  return measured(bodies.length, () => {
    for (const body of bodies) {
      hash('sha256', body, 'buffer')
      hash('sha256', leaf, 'buffer')
    }
  })
}

async function fill(events: number): Promise<number> {
  const first = await open(true)
  await first.ledger.checkpoint()
  await first.close()
  const recording = await open(false)
  await fillLog(recording, events)
  // Building the index would count as sealing.
  const index =
    place.store === 'sqlite' ? watchSqliteIndex(place.filename) : watchPostgresIndex(place.url)
  await index.caughtUp()
  await index.close()
  await recording.close()
  return events
}

async function seal(events: number): Promise<Sealed> {
  const audit = await open(true)
  const sealing = await measured(events, () => audit.ledger.checkpoint())
  const hashing = await hashOnly(audit)
  const { size } = await audit.ledger.status()
  await audit.close()
  if (size <= events) throw new Error(`${size} leaves for ${events} events`)
  return { sealing, hashing, bytes: (await ledgerBytes(place)) / size }
}

async function verify(): Promise<PerEvent & { readonly events: number }> {
  const audit = await open(true)
  const { size } = await audit.ledger.status()
  let events = 0
  const taken = await measured(size, async () => {
    const { result, findings, events: found } = await audit.ledger.verify()
    events = found
    if (result !== 'intact') throw new Error(JSON.stringify(findings.slice(0, 3)))
  })
  await audit.close()
  return { ...taken, events }
}

async function read(): Promise<PerEvent> {
  let events = 0
  const taken = await measured(1, async () => (events = await plainRead(place)))
  return { wall: taken.wall / events, cpu: taken.cpu / events }
}

async function prove(leaves: number): Promise<Proved> {
  const before = await open(true)
  await fillLog(before, PROOFS / 2)
  await before.ledger.checkpoint()
  await before.close()
  const store = openStore(place)
  const { ledger } = store
  if (ledger) await fillTree(ledger, leaves)
  await store.close()
  const audit = await open(true)
  await fillLog(audit, PROOFS / 2)
  await audit.ledger.checkpoint()
  const { events } = await audit.list(`limit=${PROOFS}`)
  const milliseconds: number[] = []
  for (const { id } of events) {
    const start = performance.now()
    const proof = await audit.ledger.prove(id)
    milliseconds.push(performance.now() - start)
    if (proof === undefined) throw new Error(`no proof of ${id}`)
  }
  await audit.close()
  return { milliseconds }
}

function run(job: Job): Promise<TrialResult | Paced | Sealed | PerEvent | Proved | number> {
  switch (job.kind) {
    case 'record':
      return record(job)
    case 'paced':
      return recordPaced(job)
    case 'fill':
      return fill(job.events)
    case 'seal':
      return seal(job.events)
    case 'verify':
      return verify()
    case 'read':
      return read()
    case 'prove':
      return prove(job.leaves)
  }
}

serveJobs(run)
