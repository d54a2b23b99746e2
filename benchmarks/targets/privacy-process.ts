import { createCipheriv, createSecretKey, randomBytes } from 'node:crypto'
import path from 'node:path'
import { type AuditEvent, AuditLog, type EventTypes } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteSubjectKeys } from 'daybook/sqlite'
import {
  callConcurrently,
  createMeter,
  type TrialResult,
  withCommitHook,
} from '../harness/meter.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that records personal values readable and encrypted, and opens them. */

export interface Setup {
  readonly place: StoreSetup
  /** Folder of the keys. */
  readonly folder: string
}

/** `none`: without the option `privacy`; `option`: with it, of a type without personal attributes; `personal`: of a type with some. */
export type Kind = 'none' | 'option' | 'personal'

export type Job =
  | {
      readonly job: 'record'
      readonly inFlight: number
      readonly seconds: number
      readonly kind: Kind
    }
  | { readonly job: 'costs'; readonly events: number }

/** Of each event: processor time in microseconds, and bytes of its attributes. */
export interface Costs {
  readonly sealing: number
  readonly opening: number
  /** Encryption of the same bytes alone. */
  readonly cipher: number
  readonly bytes: number
}

const { place, folder } = readSetup() as Setup
const SUBJECTS = 500
const TYPE = 'api:customers:update'
const personal = [
  {
    subject: { kind: 'customer', from: 'customer_id' },
    attributes: ['email', 'request_body_address'],
  },
]

function open(kind: Kind, store = openStore(place)): AuditLog {
  const types: EventTypes = { [TYPE]: kind === 'personal' ? { personal } : {}, other: { personal } }
  if (kind === 'none') return new AuditLog({ store, types, privacy: false })
  const master = createSecretKey(randomBytes(32))
  const filename = path.join(folder, `subjects-${randomBytes(4).toString('hex')}.db`)
  return new AuditLog({ store, types, privacy: { keys: sqliteSubjectKeys({ filename, master }) } })
}

const dataOf = (i: number) => ({
  customer_id: `c${i % SUBJECTS}`,
  email: `ann.${i}@example.org`,
  request_body: { address: 'Main street 1', items: i % 7 },
  request_path: `/api/customers/${i % SUBJECTS}`,
  duration_ms: i % 100,
})

async function record({
  inFlight,
  seconds,
  kind,
}: Extract<Job, { job: 'record' }>): Promise<TrialResult> {
  const meter = createMeter(seconds)
  const audit = open(kind, withCommitHook(openStore(place), meter.committed))
  let calls = 0
  await callConcurrently(meter, inFlight, async () => {
    await audit.recordSystem(TYPE, dataOf(calls++), { username: 'ann' })
    return 1
  })
  await audit.close()
  return meter.result()
}

async function cpuOf(events: number, act: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / events
}

async function fill(audit: AuditLog, events: number): Promise<void> {
  for (let from = 0; from < events; from += 1000) {
    const calls = Array.from({ length: Math.min(1000, events - from) }, (_, i) =>
      audit.recordSystem(TYPE, dataOf(from + i), { username: 'ann' }),
    )
    await Promise.all(calls)
  }
}

async function readAll(audit: AuditLog): Promise<AuditEvent[]> {
  const all: AuditEvent[] = []
  for await (const events of audit.pages('limit=1000')) all.push(...events)
  return all
}

/** A store in memory takes little time itself. */
async function costs(events: number): Promise<Costs> {
  const plain = open('none', memoryStore())
  const sealed = open('personal', memoryStore())
  const encrypt = () => {
    const key = createSecretKey(randomBytes(32))
    const iv = randomBytes(12)
    for (let i = 0; i < events; i++) {
      const { email, request_body } = dataOf(i)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      cipher.update(JSON.stringify([email, request_body.address]), 'utf8')
      cipher.final()
      cipher.getAuthTag()
    }
  }
  // The first calls compile the code, and make the keys.
  const warm = Math.min(events, 20_000)
  for (const audit of [plain, sealed]) {
    await fill(audit, warm)
    await readAll(audit)
  }
  encrypt()
  const cipher = await cpuOf(events, encrypt)
  const readable = await cpuOf(events, () => fill(plain, events))
  const encrypted = await cpuOf(events, () => fill(sealed, events))
  let opened: readonly AuditEvent[] = []
  let left: readonly AuditEvent[] = []
  const total = events + warm
  const asStored = await cpuOf(total, async () => (left = await readAll(plain)))
  const asOpened = await cpuOf(total, async () => (opened = await readAll(sealed)))
  if (opened.some(({ attributes }) => attributes['email'] === undefined)) throw new Error('sealed')
  const bytesOf = (all: readonly AuditEvent[]): number =>
    all.reduce((sum, { attributes }) => sum + Buffer.byteLength(JSON.stringify(attributes)), 0) /
    all.length
  const stored = await sealed.store.list({ where: undefined, sorts: [], limit: 1000 })
  const bytes = bytesOf(stored.events) - bytesOf(left.slice(-1000))
  await Promise.all([plain.close(), sealed.close()])
  return { sealing: encrypted - readable, opening: asOpened - asStored, cipher, bytes }
}

const run = (job: Job): Promise<TrialResult | Costs> =>
  job.job === 'record' ? record(job) : costs(job.events)

serveJobs(run)
