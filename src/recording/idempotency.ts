import type { EarlierAttempts } from './earlier-attempts.js'
import { AuditLogError, throwIfAborted, untilAborted } from '../errors.js'
import { type AuditEvent, type EventDraft, type JsonValue, stampDraft } from '../event/event.js'
import { eventId, type IdTail } from '../event/event-id.js'
import { digest, fingerprintOf } from './fingerprint.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import type { AddOptions, Recorder } from './recorder.js'
import { asStoreFailure } from './store-failure.js'
import type { EventStore } from '../store/store.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'

const DAY: Microseconds = 86_400_000_000

// An event's time may be a little before one that its store told earlier.
const MARGIN: Microseconds = 1_000_000

/**
 * What the processes on one store know of a key. Its first call makes it, before anything is
 * appended: so whoever appends for the key gives the event the same tail, by which the store finds
 * what another attempt has had kept.
 */
type Claim = {
  readonly fingerprint: string
  readonly tail: IdTail
  readonly claimedAt: Microseconds
  /** When the event became visible; null until that is noted. */
  readonly keptAt: Microseconds | null
}

/** What a call has come to. */
interface Outcome extends Pick<Claim, 'fingerprint' | 'tail'> {
  /** `undefined` where it was journalled or dropped. */
  readonly event: AuditEvent | undefined
  /** False where this call has to note it. */
  readonly isNoted: boolean
}

interface KeyedCall {
  readonly draft: EventDraft
  readonly fingerprint: string
  /** Under which the store has the claim. */
  readonly stateKey: string
  readonly options: Pick<AddOptions, 'signal' | 'policy'>
  /** On the scale of `performance.now()`. */
  readonly expires: number
  /** What the call before it with the same key comes to. */
  readonly before: Promise<Outcome | undefined> | undefined
  /** Ends its being held. */
  readonly release: () => void
}

/** Told of calls that the recorder does not settle, since it was not given them. */
export interface IdempotencyObserver {
  /** An earlier call has had the event kept. */
  repeated(draft: EventDraft): void
  rejected(draft: EventDraft, error: AuditLogError): void
}

/** Has calls of one user with one key come to one event, in all processes on the store. */
export interface Idempotency {
  /**
   * Resolves to the event of an earlier call with the key, else as `Recorder.add` does. The call waits
   * like any other while that is found out, and takes its place among the drafts that are added then.
   * Throws `QUEUE_FULL` at once.
   */
  record(
    draft: EventDraft,
    key: string,
    options: KeyedCall['options'],
  ): Promise<AuditEvent | undefined>
  /** Resolves when all calls made before are settled, and what they came to is noted. */
  flush(): Promise<unknown>
}

const noop = (): void => {}

export function createIdempotency(
  store: EventStore,
  recorder: Pick<Recorder, 'hold' | 'add'>,
  deadlineMs: number,
  observer: IdempotencyObserver,
): Idempotency {
  /** By state key the last call of this process: those with the same key take turns. */
  const last = new Map<string, Promise<Outcome | undefined>>()
  const noting = new Set<Promise<void>>()

  const refuseOther = ({ fingerprint }: KeyedCall, first: Pick<Claim, 'fingerprint'>): void => {
    if (fingerprint === first.fingerprint) return
    const message = 'the idempotency key was used for an event of another type or other data'
    throw new AuditLogError('IDEMPOTENCY_CONFLICT', message)
  }

  /** The claim that is there, or that of this call; and the store's time. */
  const claim = async (
    { stateKey, fingerprint, draft: { tail } }: KeyedCall,
    signal: AbortSignal,
  ): Promise<{ readonly found: Claim; readonly now: Microseconds }> => {
    let now: Microseconds = 0
    const take = (present: JsonValue | undefined, time: Microseconds): JsonValue => {
      now = time
      // What is noted in a claim has the store keep it for longer.
      const isOver = present === undefined || time >= (present as Claim).claimedAt + DAY
      return isOver ? { fingerprint, tail, claimedAt: time, keptAt: null } : present
    }
    const found = await store.updateState(stateKey, take, { signal, keepFor: DAY })
    return { found: found as Claim, now }
  }

  /** What the call comes to, as an earlier one has; else how it is to be added. */
  const lookUp = async (
    call: KeyedCall,
  ): Promise<Outcome | { readonly tail: IdTail; readonly earlier: EarlierAttempts }> => {
    const { draft, before, expires, fingerprint } = call
    using wait = timeoutSignal(expires - performance.now(), call.options.signal)
    const { signal } = wait
    throwIfAborted(signal)
    const own = before && (await untilAborted(before, signal))
    if (own?.event) {
      refuseOther(call, own)
      return { ...own, isNoted: true }
    }
    const { found, now } = await claim(call, signal)
    refuseOther(call, found)
    const { tail, keptAt } = found
    if (keptAt === null) {
      const since = found.claimedAt - MARGIN
      return { tail, earlier: { since, until: tail === draft.tail ? since : now - MARGIN } }
    }
    const event = await store.get(eventId(keptAt, tail), { signal })
    // What has been removed since gets the same answer.
    return {
      fingerprint,
      tail,
      event: event ?? stampDraft({ ...draft, tail }, keptAt),
      isNoted: true,
    }
  }

  const failure = (thrown: unknown, signal: AbortSignal | undefined): AuditLogError => {
    const error = asStoreFailure(store, thrown)
    if (error.code !== 'ABORTED' || signal?.aborted) return error
    const message = `the ${store.name} store did not take the event within ${deadlineMs} ms`
    return new AuditLogError('DEADLINE_EXCEEDED', message, { cause: error })
  }

  const settle = async (call: KeyedCall): Promise<Outcome> => {
    const { draft, fingerprint, options, expires, release } = call
    let tail: IdTail
    let adding: Promise<AuditEvent | undefined>
    try {
      const found = await lookUp(call)
      release()
      if (!('earlier' in found)) {
        observer.repeated(draft)
        return found
      }
      tail = found.tail
      adding = recorder.add({ ...draft, tail }, { ...options, expires, earlier: found.earlier })
    } catch (thrown) {
      release()
      const error = failure(thrown, options.signal)
      observer.rejected(draft, error)
      throw error
    }
    return { fingerprint, tail, event: await adding, isNoted: false }
  }

  /** Later calls need not look for the event then. Where this fails they do. */
  const note = async (stateKey: string, outcome: Outcome | undefined): Promise<void> => {
    if (!outcome?.event || outcome.isNoted) return
    const keptAt = parseTimestamp(outcome.event.created_at)!
    const complete = (present: JsonValue | undefined): JsonValue | undefined => {
      const found = present as Claim | undefined
      return found?.tail === outcome.tail ? { ...found, keptAt } : present
    }
    using wait = timeoutSignal(deadlineMs)
    await store.updateState(stateKey, complete, { signal: wait.signal, keepFor: DAY }).catch(noop)
  }

  return {
    record(draft, key, options) {
      const stateKey = `idempotency:${digest(JSON.stringify([draft.username, key]))}`
      const fingerprint = fingerprintOf(draft)
      const release = recorder.hold(draft)
      const expires = performance.now() + deadlineMs
      const before = last.get(stateKey)
      const call = settle({ draft, fingerprint, stateKey, options, expires, before, release })
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
