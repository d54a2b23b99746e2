import { MAX_TIMER_MS } from '../async/timers.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import { asStoreFailure, AuditLogError, type AuditLogErrorCode, untilAborted } from '../errors.js'
import { innermostError } from '../event/realm.js'
import type { Outage } from '../recording/availability.js'
import type { DiskHealth, IndexHealth, ReplicasHealth, StoreHealth } from '../store/health.js'
import type { EventJournal } from '../store/journal.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { checkOptions, type OptionNames } from '../options.js'

/**
 * The terms of the media type `application/health+json`. `pass`: works. `warn`: works, but needs attention. `fail`:
 * does not work. https://datatracker.ietf.org/doc/html/draft-inadarei-api-health-check-06
 */
export type HealthStatus = 'pass' | 'warn' | 'fail'

/** The condition of a log, as plain JSON. Unknown figures are left out. */
export interface AuditHealth {
  /** The worst status of the parts. */
  readonly status: HealthStatus
  /**
   * `warn` while it has `warnings`: acknowledged events may be lost, or were lost. `fail` if the store did not answer in
   * time, or refuses writes although the log is not read-only.
   */
  readonly store: {
    readonly status: HealthStatus
    readonly name: string
    /** Time until the store answered or failed, in milliseconds. */
    readonly responseMs: number
    readonly warnings?: readonly string[]
    readonly error?: { readonly code: AuditLogErrorCode; readonly message: string }
  }
  /**
   * `warn` while the last attempt of this process to store events has failed. Never `fail`, because only another
   * event can show whether the store accepts events again.
   */
  readonly recording: {
    readonly status: HealthStatus
    /** Failed attempts and missed deadlines since the last event was stored. */
    readonly failures: number
    /** The time of the first of them. */
    readonly failingSince?: string
  }
  /**
   * `warn` while a part of the index is damaged, or while the index lacks more than four times as many events as
   * usual. Lists are then right, but slower.
   */
  readonly index?: Omit<IndexHealth, 'batch'> & { readonly status: HealthStatus }
  /** `warn` while the journal holds events, because lists lack these events. */
  readonly journal?: { readonly status: HealthStatus; readonly length: number }
  /**
   * `warn` while a replica cannot be reached, does not replay, or exceeds the allowed lag. Then other servers answer.
   */
  readonly replicas?: ReplicasHealth & { readonly status: HealthStatus }
  /** Present while cleaning rules remove nothing by age, because the clock was in doubt at their last run. */
  readonly cleaning?: { readonly status: HealthStatus; readonly waiting: readonly WaitingRule[] }
  /** Present while events have waited for more than a minute to be sealed, or sealing fails in this process. */
  readonly ledger?: LedgerTrouble & { readonly status: HealthStatus }
  /** `warn` if fewer than `minFreeBytes` are free; `fail` if fewer than 16 MiB are. */
  readonly disk?: DiskHealth & { readonly status: HealthStatus }
}

/** A ledger that is behind. */
export interface LedgerTrouble {
  /** `no-signer` if this process has no signer. */
  readonly state: string
  readonly error?: string
  /** Number of events that wait, up to 10,000. */
  readonly waiting: number
  readonly waitingSince?: string
}

/** A cleaning rule that waits for the clock. */
export interface WaitingRule {
  readonly rule: string
  /** The last reading of the clock. */
  readonly clock_time: string
  readonly expected_time: string
  /** Latest end of the wait, by the doubted clock. */
  readonly until: string
}

export interface HealthOptions {
  /** Maximum time to wait for the store, in milliseconds. @default 2000 */
  readonly timeoutMs?: number
  /** A whole number; 0 for no warning. @default 268435456 (256 MiB) */
  readonly minFreeBytes?: number
}

export const HEALTH_OPTIONS: OptionNames<HealthOptions> = { timeoutMs: true, minFreeBytes: true }

type PartOf<Name extends keyof AuditHealth> = NonNullable<AuditHealth[Name]>

/** The parts of a log whose condition is checked. */
export interface HealthSources {
  readonly store: EventStore
  readonly journal: EventJournal | undefined
  readonly outage: () => Outage | undefined
  readonly waitingRules: (options: WaitOptions) => Promise<readonly WaitingRule[]>
  readonly ledgerTrouble: (options: WaitOptions) => Promise<LedgerTrouble | undefined>
}

const MAX_INDEX_BATCHES = 4
const FULL_BYTES = 16 * 1024 * 1024

/** An id that no event has. */
const NIL_ID = '00000000-0000-0000-0000-000000000000'

export type HealthLimits = Required<HealthOptions>

/** The options with their defaults. Throws `INVALID_OPTION`. */
export function readHealthOptions(options: HealthOptions): HealthLimits {
  const { timeoutMs = 2000, minFreeBytes = 256 * 1024 * 1024 } = options
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMER_MS)
    throw new AuditLogError(
      'INVALID_OPTION',
      `timeoutMs must be a whole number from 1 to ${MAX_TIMER_MS}; it is ${String(timeoutMs)}`,
    )
  if (!Number.isInteger(minFreeBytes) || minFreeBytes < 0)
    throw new AuditLogError(
      'INVALID_OPTION',
      `minFreeBytes must be a whole number of at least 0; it is ${String(minFreeBytes)}`,
    )
  return { timeoutMs, minFreeBytes }
}

/** Checks all parts. Rejects only with `INVALID_OPTION`. */
export async function checkHealth(
  { store, journal, outage, waitingRules, ledgerTrouble }: HealthSources,
  options: HealthOptions,
): Promise<AuditHealth> {
  checkOptions(options, HEALTH_OPTIONS, 'health')
  const limits = readHealthOptions(options)
  const asking = askWithin(waitingRules, limits.timeoutMs)
  const askingLedger = askWithin(ledgerTrouble, limits.timeoutMs)
  const { health, ...answered } = await askStore(store, limits.timeoutMs)
  const waiting = (await asking) ?? []
  const ledger = await askingLedger
  const parts = {
    store: answered,
    recording: recordingHealth(outage()),
    ...(health.index && { index: indexHealth(health.index) }),
    ...(journal && { journal: journalHealth(journal) }),
    ...(health.replicas && { replicas: replicasHealth(health.replicas) }),
    ...(waiting.length > 0 && { cleaning: { status: 'warn' as const, waiting } }),
    ...(ledger && { ledger: ledgerHealth(ledger) }),
    ...(health.disk && { disk: diskHealth(health.disk, limits) }),
  }
  return { status: worst(Object.values(parts)), ...parts }
}

function worst(parts: readonly { readonly status: HealthStatus }[]): HealthStatus {
  const has = (wanted: HealthStatus): boolean => parts.some(({ status }) => status === wanted)
  if (has('fail')) return 'fail'
  return has('warn') ? 'warn' : 'pass'
}

async function ask(store: EventStore, options: WaitOptions): Promise<StoreHealth> {
  if (store.health) return store.health(options)
  await store.get(NIL_ID, options)
  return {}
}

async function askStore(
  store: EventStore,
  timeoutMs: number,
): Promise<PartOf<'store'> & { readonly health: StoreHealth }> {
  const start = performance.now()
  using wait = timeoutSignal(timeoutMs)
  const { signal } = wait
  const answer = await untilAborted(ask(store, { signal }), signal).catch((error: unknown) =>
    signal.aborted
      ? new AuditLogError('QUERY_TIMEOUT', `the store did not answer within ${timeoutMs} ms`)
      : asStoreFailure(store, error),
  )
  const responseMs = Math.round((performance.now() - start) * 10) / 10
  const failure = answer instanceof AuditLogError ? answer : refusal(store, answer)
  const health = answer instanceof AuditLogError ? {} : answer
  const { warnings = [] } = health
  const works = warnings.length > 0 ? 'warn' : 'pass'
  return {
    status: failure ? 'fail' : works,
    name: store.name,
    responseMs,
    ...(warnings.length > 0 && { warnings }),
    ...(failure && { error: { code: failure.code, message: messageOf(failure) } }),
    health,
  }
}

/** Returns nothing if the store does not answer. The check of the store reports this case. */
async function askWithin<Answer>(
  ask: (options: WaitOptions) => Promise<Answer>,
  timeoutMs: number,
): Promise<Answer | undefined> {
  using wait = timeoutSignal(timeoutMs)
  const { signal } = wait
  return await untilAborted(ask({ signal }), signal).catch(() => undefined)
}

function ledgerHealth({ state, error, waiting, waitingSince }: LedgerTrouble): PartOf<'ledger'> {
  return {
    status: 'warn',
    state,
    waiting,
    ...(error !== undefined && { error }),
    ...(waitingSince !== undefined && { waitingSince }),
  }
}

function refusal(store: EventStore, { writable = true }: StoreHealth): AuditLogError | undefined {
  if (writable || store.readOnly) return undefined
  return new AuditLogError('STORE_FAILED', `the ${store.name} store refuses writes`)
}

/** The message of the error, with the message of its cause if the cause adds information. */
function messageOf(failure: AuditLogError): string {
  const { message } = innermostError(failure)
  return failure.message.includes(message) ? failure.message : `${failure.message}: ${message}`
}

function recordingHealth(outage: Outage | undefined): PartOf<'recording'> {
  if (!outage) return { status: 'pass', failures: 0 }
  const failingSince = new Date(outage.since).toISOString()
  return { status: 'warn', failures: outage.failures, failingSince }
}

function indexHealth({ batch, ...figures }: IndexHealth): PartOf<'index'> {
  const isLate = figures.damaged > 0 || figures.waiting > MAX_INDEX_BATCHES * batch
  return { status: isLate ? 'warn' : 'pass', ...figures }
}

const MAX_LAG_MS = 10_000

function replicasHealth({ servers, maxLagMs }: ReplicasHealth): PartOf<'replicas'> {
  const isSound = servers.every(
    ({ reachable, replaying, lagMs = 0 }) =>
      reachable && replaying && lagMs <= (maxLagMs ?? MAX_LAG_MS),
  )
  const limit = maxLagMs === undefined ? {} : { maxLagMs }
  return { status: isSound ? 'pass' : 'warn', ...limit, servers }
}

function journalHealth({ length }: EventJournal): PartOf<'journal'> {
  return { status: length > 0 ? 'warn' : 'pass', length }
}

function diskHealth(disk: DiskHealth, { minFreeBytes }: HealthLimits): PartOf<'disk'> {
  const { freeBytes = Infinity } = disk
  if (freeBytes < FULL_BYTES) return { status: 'fail', ...disk }
  return { status: freeBytes < minFreeBytes ? 'warn' : 'pass', ...disk }
}
