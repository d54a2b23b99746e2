import { AuditLogError, throwIfAborted, untilAborted } from '../errors.js'
import { formatTimestamp, MINUTE } from '../event/timestamp.js'
import { checkOptions } from '../options.js'
import { backgroundOf } from '../store/background.js'
import { noLedger } from '../store/ledger-errors.js'
import type { LedgerState, LedgerStore } from '../store/ledger.js'
import { type EventStore, WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import { openStoredHead } from './open-head.js'
import type { LedgerSettings } from './options.js'
import { proveEvent } from './prove.js'
import { type AnchorStatus, startAnchoring } from './anchors.js'
import { createOperations, type LedgerOperations, type RecordOwn } from './operations.js'
import { createRemover, type Remover } from './remover.js'
import { type ScheduledVerification, startVerifications } from './scheduled-verification.js'
import { createSealer, type Sealer, type SealerState } from './sealer.js'
import {
  LEDGER_VERIFY_OPTIONS,
  type LedgerVerification,
  type LedgerVerifyOptions,
} from './verification.js'
import { verifyLedger } from './verify.js'

/** Condition of the ledger, as plain JSON. */
export interface LedgerStatus {
  /** The work of this process; `no-signer` if it has no signer. */
  readonly state: SealerState | 'no-signer'
  /** The error of the last attempt to seal. */
  readonly error?: string
  /** Number of leaves. */
  readonly size: number
  /** Time up to which all events are sealed, except late ones; `undefined` if the log has no ledger yet. */
  readonly sealedUntil: string | undefined
  /** Number of events that wait to be sealed, up to 10,000. */
  readonly waiting: number
  /** The time of the oldest event that waits in order. */
  readonly waitingSince?: string
  /** The last signed head, as the text of a note. */
  readonly head: string | undefined
  /** The anchors that get heads from this process. */
  readonly anchors: readonly AnchorStatus[]
  /** Set while the last verification of this process has failed, or has found that the log was changed. */
  readonly verifyError?: string
}

/** The ledger of a log: a Merkle tree over its events, whose signed heads prove later that no event was changed. */
export interface Ledger extends LedgerOperations {
  /** The verifier key, which begins with the origin and `+`; `undefined` without the option `ledger`. */
  readonly vkey: string | undefined
  /**
   * Seals everything that is visible now, and returns the signed head as the text of a note. A process without a signer, or while another
   * one seals, returns the last head. Rejects with `NO_LEDGER`, `NOT_SEALED` before the first head, `LEDGER_DIVERGED` if the tables are not those that were signed, and `DAMAGED` if the last head is not signed.
   */
  checkpoint(options?: WaitOptions): Promise<string>
  /**
   * The proof of an event: a text of about 1.4 kB at 10 million events, with which `checkProof` of `daybook/ledger` proves the event's export line.
   * `undefined` if there is no such event. Rejects with `NO_LEDGER`, `NOT_SEALED`, and `DAMAGED` if the event is not the one that was sealed, or the ledger no longer proves it. Takes milliseconds.
   */
  prove(id: string, options?: WaitOptions): Promise<string | undefined>
  status(options?: WaitOptions): Promise<LedgerStatus>
  /**
   * Compares every event with its leaf, and the leaves with the signed heads: see {@link LedgerVerification}. Reads the whole log, some
   * 10 microseconds an event, and does not block other calls for long. Rejects with `NO_LEDGER`, with `INVALID_OPTION`, and with
   * `INVALID_VALUE` for a head that is not signed by the key of this ledger.
   */
  verify(options?: LedgerVerifyOptions): Promise<LedgerVerification>
}

type Trouble = Pick<LedgerStatus, 'state' | 'waiting' | 'waitingSince' | 'error'>

/** The ledger as a part of a log. */
export interface LedgerFeature extends Ledger {
  /** The status, if events have waited for more than a minute, the ledger has failed, or the log has none although its options name one. */
  trouble(options: WaitOptions): Promise<Trouble | undefined>
  readonly remover: Remover
  /** Stops verifications. */
  close(): Promise<void>
  /** Seals the rest. */
  end(): Promise<void>
}

const VERIFIED = 'info:audit_log:verification'
const TAMPERED = 'error:audit_log:verification'

const MAX_WAIT = MINUTE
/** Longest time that an anchor may take to return its last head. */
const ANCHOR_MS = 60_000
const START_MS = 60_000

/** The event that a verification leaves. If it cannot be stored, the result is returned all the same. */
async function recordVerification(
  record: RecordOwn,
  { result, size, events, provedSize, findings }: LedgerVerification,
): Promise<void> {
  const data = {
    result,
    size,
    proved_size: provedSize,
    event_count: events,
    finding_count: findings.length,
  }
  const type = result === 'tampered' ? TAMPERED : VERIFIED
  await record(type, data).catch(() => undefined)
}

async function statusOf(
  ledger: LedgerStore | undefined,
  sealer: Sealer | undefined,
  options: WaitOptions | undefined,
): Promise<Omit<LedgerStatus, 'anchors' | 'verifyError'>> {
  const found = await ledger?.state(options)
  const error = sealer?.error?.message
  const own = {
    state: sealer?.state ?? ('no-signer' as const),
    ...(error !== undefined && { error }),
  }
  if (!ledger || !found)
    return { ...own, size: 0, sealedUntil: undefined, waiting: 0, head: undefined }
  const { events, oldest } = await ledger.waiting(options)
  return {
    ...own,
    size: found.size,
    sealedUntil: formatTimestamp(found.sealedTo),
    waiting: events,
    ...(oldest !== undefined && { waitingSince: formatTimestamp(oldest) }),
    head: found.head,
  }
}

/** The heads that are kept outside of the log. Rejects with `STORE_FAILED` if an anchor fails, or does not answer within a minute. */
async function keptNotes(
  settings: LedgerSettings | undefined,
  { signal }: WaitOptions,
): Promise<readonly (readonly [what: string, note: string])[]> {
  const notes: [what: string, note: string][] = []
  const last = await settings?.signer?.lastNote?.()
  if (last !== undefined) notes.push(['the note that the signer has kept', last])
  for (const { anchor } of settings?.anchors ?? []) {
    throwIfAborted(signal)
    const limit = AbortSignal.timeout(ANCHOR_MS)
    const given = signal ? AbortSignal.any([signal, limit]) : limit
    try {
      const note = await untilAborted(Promise.resolve(anchor.latest?.()), given)
      if (note !== undefined) notes.push([`the last head of the anchor ${anchor.name}`, note])
    } catch (cause) {
      throwIfAborted(signal)
      throw new AuditLogError('STORE_FAILED', `the anchor ${anchor.name} failed`, { cause })
    }
  }
  return notes
}

/** Starts what the process that seals does at intervals. */
function startSchedules(
  sealer: Sealer | undefined,
  settings: LedgerSettings | undefined,
  {
    store,
    verify,
    checkpoint,
    onFailure,
  }: Pick<ScheduledVerification, 'store' | 'onFailure'> & Pick<Ledger, 'verify' | 'checkpoint'>,
) {
  const { every, anchors = [] } = (sealer && settings) ?? {}
  const isSealing = (): boolean => sealer?.state === 'sealing'
  const stopVerifying = every && startVerifications({ store, every, isSealing, verify, onFailure })
  const anchoring = startAnchoring({ anchors, isSealing, checkpoint })
  return {
    anchors: (): readonly AnchorStatus[] => anchoring.status(),
    async stop(): Promise<void> {
      await Promise.all([stopVerifying?.(), anchoring.stop()])
    },
  }
}

function checkHeads({ heads }: LedgerVerifyOptions): void {
  const areNotes = Array.isArray(heads) && heads.every((one) => typeof one === 'string')
  if (heads !== undefined && !areNotes)
    throw new AuditLogError('INVALID_OPTION', 'heads must be a list of notes, as texts')
}

async function headOf(state: LedgerState | undefined, vkey: string): Promise<string> {
  if (!state) throw noLedger()
  if (state.head !== undefined) return (await openStoredHead(state.head, vkey)).note
  throw new AuditLogError('NOT_SEALED', 'no process has signed a head yet')
}

/** The status with the error of the last verification or of an anchor, unless there is another one. */
function withAnyError(found: LedgerStatus): LedgerStatus {
  const failed = found.anchors.find(({ error }) => error !== undefined)
  const ofAnchor = failed && `the anchor ${failed.name} failed: ${failed.error}`
  const error = found.error ?? found.verifyError ?? ofAnchor
  return error === undefined ? found : { ...found, error }
}

/** The trouble that a verification has found. One of a part of the log says nothing about earlier trouble. */
function troubleOf(
  { result, since, findings }: LedgerVerification,
  before: string | undefined,
): string | undefined {
  const open = findings.filter(({ acknowledged }) => acknowledged === undefined)
  if (result === 'tampered')
    return `the last verification has ${open.length} findings, such as: ${open[0]?.reason}`
  return since === undefined ? undefined : before
}

/** True if events have waited for long, or the ledger or an anchor has failed. */
function needsAttention(store: EventStore, { waitingSince, error }: LedgerStatus): boolean {
  const now = formatTimestamp((store.clock?.() ?? Date.now() * 1000) - MAX_WAIT)
  return error !== undefined || (waitingSince !== undefined && waitingSince < now)
}

function openSealer(store: EventStore, settings: LedgerSettings | undefined): Sealer | undefined {
  const background = backgroundOf(store)
  const { ledger } = background.store
  const { origin = '', signer } = settings ?? {}
  return ledger && signer && !store.readOnly
    ? createSealer({ store: background.store, ledger, origin, signer, background })
    : undefined
}

/**
 * A function that seals what is visible, signs, and keeps the head comparable. It resolves to the head; `undefined` if this process does not
 * seal.
 */
function createKeeper(
  sealer: Sealer | undefined,
): (options: WaitOptions | undefined) => Promise<string | undefined> {
  let kept: string | undefined
  return async (options) => {
    if (!sealer || !(await sealer.seal(options))) return undefined
    const note = sealer.signed?.note
    if (note !== kept && !(await sealer.keepHead(options))) return undefined
    kept = note
    return sealer.signed?.note
  }
}

interface VerifierContext {
  readonly store: EventStore
  readonly settings: LedgerSettings | undefined
  readonly sealer: Sealer | undefined
  readonly record: RecordOwn
  /** Throws `NO_LEDGER`. */
  readonly requireLedger: () => { readonly ledger: LedgerStore; readonly vkey: string }
}

/** The verifications of a log, and the trouble that the last one has found. */
function createVerifier({ store, settings, sealer, record, requireLedger }: VerifierContext) {
  let trouble: string | undefined
  return {
    error: () => trouble,
    onFailure: (error: unknown): void => {
      trouble = `the last verification failed: ${(error as Error | undefined)?.message ?? String(error)}`
    },
    verify: async (options: LedgerVerifyOptions = {}): Promise<LedgerVerification> => {
      checkOptions(options, LEDGER_VERIFY_OPTIONS, 'verify')
      checkHeads(options)
      const context = {
        ...requireLedger(),
        known: sealer?.signed,
        kept: await keptNotes(settings, options),
      }
      const verification = await verifyLedger(context, options)
      trouble = troubleOf(verification, trouble)
      if (!store.readOnly) await recordVerification(record, verification)
      return verification
    },
  }
}

/** See `LedgerFeature.trouble`. */
function createTrouble({
  store,
  settings,
  sealer,
  status,
}: Pick<Ledger, 'status'> & {
  readonly store: EventStore
  readonly settings: LedgerSettings | undefined
  readonly sealer: Sealer | undefined
}): LedgerFeature['trouble'] {
  const { ledger } = store
  const openedAt = performance.now()
  return async (options) => {
    if (!ledger || (!settings && !(await ledger.state(options)))) return undefined
    try {
      const found = withAnyError(await status(options))
      if (needsAttention(store, found)) return found
      // The first process with a signer begins the ledger soon after it has started.
      const isStarting = sealer && performance.now() - openedAt < START_MS
      return found.sealedUntil !== undefined || isStarting
        ? undefined
        : { ...found, error: 'the log has no ledger yet: no process with a signer has begun it' }
    } catch (error) {
      const state = sealer?.state ?? 'no-signer'
      return { state, waiting: 0, error: (error as Error).message }
    }
  }
}

export function createLedger(
  store: EventStore,
  settings: LedgerSettings | undefined,
  record: RecordOwn = async () => undefined,
): LedgerFeature {
  const { ledger } = store
  const vkey = settings?.vkey
  const sealer = openSealer(store, settings)

  const requireLedger = (): { readonly ledger: LedgerStore; readonly vkey: string } => {
    if (!ledger || vkey === undefined)
      throw new AuditLogError('NO_LEDGER', 'the log was opened without the option ledger')
    return { ledger, vkey }
  }

  const remover = createRemover(store, sealer)
  const sealAndKeep = createKeeper(sealer)

  const requireSealer = (): Sealer => {
    requireLedger()
    if (sealer) return sealer
    throw new AuditLogError('SIGNER_REQUIRED', 'the log was opened without a signer')
  }

  const verifier = createVerifier({ store, settings, sealer, record, requireLedger })
  const { verify } = verifier

  const checkpoint: Ledger['checkpoint'] = async (options) => {
    checkOptions(options, WAIT_OPTIONS, 'checkpoint')
    const required = requireLedger()
    const head = await sealAndKeep(options)
    return head ?? headOf(await required.ledger.state(options), required.vkey)
  }

  const schedules = startSchedules(sealer, settings, { store, checkpoint, ...verifier })
  const status = async (options?: WaitOptions): Promise<LedgerStatus> => {
    const verifyError = verifier.error()
    return {
      ...(await statusOf(ledger, sealer, options)),
      anchors: schedules.anchors(),
      ...(verifyError !== undefined && { verifyError }),
    }
  }

  return {
    vkey,
    remover,
    checkpoint,
    async prove(id, options = {}) {
      checkOptions(options, WAIT_OPTIONS, 'prove')
      return proveEvent({ store, ...requireLedger() }, id, options)
    },
    async status(options) {
      checkOptions(options, WAIT_OPTIONS, 'status')
      return status(options)
    },
    verify,
    ...createOperations(store, settings, { sealer: requireSealer, remover, record }),
    trouble: createTrouble({ store, settings, sealer, status }),
    async close() {
      await schedules.stop()
    },
    async end() {
      await sealer?.close()
    },
  }
}
