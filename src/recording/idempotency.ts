import { createHash } from 'node:crypto'
import {
  asStoreFailure,
  AuditLogError,
  isOutcomeUnknown,
  throwIfAborted,
  untilAborted,
} from '../errors.js'
import {
  type AuditEvent,
  type EventDraft,
  type JsonObject,
  type JsonValue,
  stampDraft,
} from '../event/event.js'
import { eventId, type IdSuffix } from '../event/event-id.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import type { Outcomes } from './outcomes.js'
import type { AddOptions, Recorder } from './recorder.js'
import type { EarlierAttempts } from './queue.js'
import { createStateUpdates, type UpdateState } from './state-updates.js'
import type { Sealing } from '../privacy/sealing.js'
import type { EventStore } from '../store/store.js'
import { DAY, type Microseconds, parseTimestamp } from '../event/timestamp.js'

// An event's `created_at` may be slightly before a time that its store returned earlier.
const CLOCK_MARGIN: Microseconds = 1_000_000

/** The result of a call with a key. */
interface Outcome extends Pick<KeyClaim, 'fingerprint' | 'suffix'> {
  /** `undefined` if the event was journalled or dropped. */
  readonly event: AuditEvent | undefined
  /** False if the claim does not say yet that the event is stored. */
  readonly isNoted: boolean
}

interface KeyedCall {
  readonly draft: EventDraft
  /** See {@link fingerprintOf}. Personal values need a key for it. */
  readonly fingerprint: string
  /** Key of the claim in the store. */
  readonly stateKey: string
  readonly options: Pick<AddOptions, 'signal' | 'policy'>
  /** Time on the scale of `performance.now()`. */
  readonly deadline: number
  /** The outcome of the previous call with the same key in this process. */
  readonly previous: Promise<Outcome | undefined> | undefined
  /** Releases the place that the call holds in the queue limits. */
  readonly release: () => void
}

/** Makes all calls of one user with the same key, in any process on the store, resolve to one event. */
export interface Idempotency {
  /**
   * Resolves to the event of an earlier call with the key. Without one, records the draft as `Recorder.add` does. The
   * call counts as waiting during the lookup of the key in the store. Then the draft is added after drafts that were
   * added during the lookup. Throws `QUEUE_FULL`.
   */
  record(
    draft: EventDraft,
    key: string,
    options: KeyedCall['options'],
  ): Promise<AuditEvent | undefined>
  /** Resolves when all calls made before have settled and their outcomes are noted in the store. */
  flush(): Promise<unknown>
}

export interface IdempotencyDependencies {
  readonly store: EventStore
  readonly recorder: Pick<Recorder, 'hold' | 'add'>
  readonly deadlineMs: number
  /** Receives the outcomes of calls that never reach the recorder. */
  readonly outcomes: Pick<Outcomes, 'repeated' | 'rejected'>
  readonly sealing?: Pick<Sealing, 'plan' | 'fingerprint'> | undefined
}

const noop = (): void => {}

export function createIdempotency(dependencies: IdempotencyDependencies): Idempotency {
  const { store, recorder, deadlineMs, outcomes } = dependencies
  /** The last call of this process by state key. Calls with the same key run one after another. */
  const last = new Map<string, Promise<Outcome | undefined>>()
  const updateState = createStateUpdates(store, { keepFor: DAY, deadlineMs })
  const noting = new Set<Promise<void>>()

  const settle = async (unkeyed: KeyedCall): Promise<Outcome> => {
    const { draft, options, deadline, release } = unkeyed
    let fingerprint: string
    let suffix: IdSuffix
    let adding: Promise<AuditEvent | undefined>
    try {
      fingerprint = await keyedFingerprint(dependencies, unkeyed)
      const found = await lookUp(store, updateState, { ...unkeyed, fingerprint })
      release()
      if (!('earlier' in found)) {
        outcomes.repeated(draft)
        return found
      }
      suffix = found.suffix
      adding = recorder.add({ ...draft, suffix }, { ...options, deadline, earlier: found.earlier })
    } catch (thrown) {
      release()
      const error = lookUpError(dependencies, thrown, options.signal)
      outcomes.rejected(draft, error)
      throw error
    }
    return { fingerprint, suffix, event: await adding, isNoted: false }
  }

  /** Marks the event as stored in the claim, so that later calls need not search for it. */
  const note = async (stateKey: string, outcome: Outcome | undefined): Promise<void> => {
    if (!outcome?.event || outcome.isNoted) return
    const storedAt = parseTimestamp(outcome.event.created_at)!
    using wait = timeoutSignal(deadlineMs)
    const stored = { suffix: outcome.suffix, storedAt }
    await saveStored(updateState, stateKey, stored, wait.signal).catch(noop)
  }

  return {
    record(draft, key, options) {
      const stateKey = `idempotency:${digest(JSON.stringify([draft.username, key]))}`
      const fingerprint = fingerprintOf(draft)
      const release = recorder.hold(draft)
      const deadline = performance.now() + deadlineMs
      const previous = last.get(stateKey)
      const call = settle({ draft, fingerprint, stateKey, options, deadline, previous, release })
      const outcome = call.catch(noop as () => undefined)
      last.set(stateKey, outcome)
      const noted: Promise<void> = outcome
        .then((settled) => note(stateKey, settled))
        .finally(() => {
          noting.delete(noted)
          if (last.get(stateKey) === outcome) last.delete(stateKey)
        })
      noting.add(noted)
      return call.then(({ event }) => event)
    },
    flush: () => Promise.all(noting),
  }
}

/** A hash of personal values would reveal them to whoever can guess them, so it is one with a secret key. */
async function keyedFingerprint(
  { sealing }: IdempotencyDependencies,
  { draft, fingerprint, deadline, options }: KeyedCall,
): Promise<string> {
  if (!sealing?.plan(draft)) return fingerprint
  using wait = timeoutSignal(deadline - performance.now(), options.signal)
  return await untilAborted(sealing.fingerprint(fingerprint, { signal: wait.signal }), wait.signal)
}

/** The outcome of an earlier call, or the way in which this call's draft has to be added. */
async function lookUp(
  store: EventStore,
  updateState: UpdateState,
  call: KeyedCall,
): Promise<Outcome | { readonly suffix: IdSuffix; readonly earlier: EarlierAttempts }> {
  const { draft, stateKey, previous, deadline, fingerprint } = call
  using wait = timeoutSignal(deadline - performance.now(), call.options.signal)
  const { signal } = wait
  throwIfAborted(signal)
  const outcome = previous && (await untilAborted(previous, signal))
  if (outcome?.event) {
    checkFingerprint(call, outcome)
    return { ...outcome, isNoted: true }
  }
  const own = { fingerprint, suffix: draft.suffix }
  const { claim, now } = await claimKey(updateState, stateKey, own, signal)
  checkFingerprint(call, claim)
  const { suffix, storedAt } = claim
  if (storedAt === null) {
    const since = claim.claimedAt - CLOCK_MARGIN
    return {
      suffix,
      earlier: { since, until: suffix === draft.suffix ? since : now - CLOCK_MARGIN },
    }
  }
  const event = await store.get(eventId(storedAt, suffix), { signal })
  // If the event has been removed, the call still gets the same answer.
  return {
    fingerprint,
    suffix,
    event: event ?? stampDraft({ ...draft, suffix }, storedAt),
    isNoted: true,
  }
}

function checkFingerprint({ fingerprint }: KeyedCall, first: Pick<KeyClaim, 'fingerprint'>): void {
  if (fingerprint === first.fingerprint) return
  const message = 'the idempotency key was used for an event of another type or other data'
  throw new AuditLogError('IDEMPOTENCY_CONFLICT', message)
}

function lookUpError(
  { store, deadlineMs }: IdempotencyDependencies,
  thrown: unknown,
  signal: AbortSignal | undefined,
): AuditLogError {
  const error = asStoreFailure(store, thrown)
  // Only the claim of the key is uncertain. No event was written.
  const isOver = error.code === 'ABORTED' || isOutcomeUnknown(error)
  if (!isOver || (signal?.aborted && error.code === 'ABORTED')) return error
  const message = `the ${store.name} store did not take the event within ${deadlineMs} ms`
  return new AuditLogError('DEADLINE_EXCEEDED', message, { cause: error })
}

/**
 * The state of an idempotency key, which the processes on one store share. The first call writes it before anything
 * is appended. So every call with the key appends a draft with the same suffix, and the store finds the event of an
 * earlier attempt.
 */
type KeyClaim = {
  readonly fingerprint: string
  readonly suffix: IdSuffix
  readonly claimedAt: Microseconds
  /** Time at which the event became visible; null until a call has saved it. */
  readonly storedAt: Microseconds | null
}

/** Writes the claim unless one exists. Returns the claim in the store, and the store's time. */
async function claimKey(
  updateState: UpdateState,
  stateKey: string,
  own: Pick<KeyClaim, 'fingerprint' | 'suffix'>,
  signal: AbortSignal,
): Promise<{ readonly claim: KeyClaim; readonly now: Microseconds }> {
  let now: Microseconds = 0
  const take = (present: JsonValue | undefined, time: Microseconds): JsonValue => {
    now = time
    // A claim can be older than a day, if `saveStored` has written it again.
    const isOver = present === undefined || time >= (present as KeyClaim).claimedAt + DAY
    return isOver ? { ...own, claimedAt: time, storedAt: null } : present
  }
  const claim = await updateState(stateKey, take, signal)
  return { claim: claim as KeyClaim, now }
}

/** Writes into the claim when its event became visible. */
async function saveStored(
  updateState: UpdateState,
  stateKey: string,
  { suffix, storedAt }: { readonly suffix: IdSuffix; readonly storedAt: Microseconds },
  signal: AbortSignal,
): Promise<void> {
  const complete = (present: JsonValue | undefined): JsonValue | undefined => {
    const claim = present as KeyClaim | undefined
    return claim?.suffix === suffix ? { ...claim, storedAt } : present
  }
  await updateState(stateKey, complete, signal)
}

/** Sorts the members of objects by name, as RFC 8785 does, so that equal values have equal text. */
function sortMembers(_key: string, value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // Unlike an assignment, this makes `__proto__` an ordinary member.
  return Object.fromEntries(sorted)
}

const omit = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))

/** SHA-256 in hexadecimal. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Equal for calls with the same type and equal data, in any order of members. A repeated call may belong to another
 * request, so attributes from the context do not count.
 */
function fingerprintOf({ type, attributes, added }: EventDraft): string {
  const given = added?.length ? omit(attributes, added) : attributes
  return digest(JSON.stringify([type, given], sortMembers))
}

const KEY = /^[\x21-\x7e]{1,255}$/

/** Reason why the idempotency key is invalid; `undefined` if it is valid. */
export function idempotencyKeyFault(key: unknown): string | undefined {
  const isKey = typeof key === 'string' && KEY.test(key)
  return isKey ? undefined : 'must have 1 to 255 visible ASCII characters'
}

/** Throws `INVALID_OPTION` for an invalid key, and for a key together with a transaction. */
export function checkIdempotencyKey(key: unknown, transaction: object | undefined): void {
  const fault =
    transaction === undefined
      ? idempotencyKeyFault(key)
      : 'cannot be given together with transaction'
  if (fault) throw new AuditLogError('INVALID_OPTION', `idempotencyKey ${fault}`)
}
