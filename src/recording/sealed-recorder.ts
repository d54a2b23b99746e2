import { abortedError, AuditLogError, throwIfAborted } from '../errors.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import type { AuditEvent, EventDraft, JsonObject } from '../event/event.js'
import type { Outcomes } from './outcomes.js'
import type { AddOptions, Recorder } from './recorder.js'
import type { Sealing, SealingPlan } from '../privacy/sealing.js'

interface WaitingCall {
  readonly draft: EventDraft
  readonly plan: SealingPlan | undefined
  readonly options: AddOptions
  readonly deadline: number
  readonly resolve: (event: Promise<AuditEvent | undefined>) => void
  readonly reject: (error: AuditLogError) => void
  /** Gives back its place in the queue limits. */
  readonly release: () => void
}

/** A draft that waits for keys, or for drafts before it that do. */
class Waiting {
  readonly call: WaitingCall
  isOver = false
  #listener: (() => void) | undefined

  constructor(call: WaitingCall) {
    this.call = call
  }

  onAbort(refuse: (error: AuditLogError) => void): void {
    const { signal } = this.call.options
    if (!signal) return
    this.#listener = () => refuse(abortedError(signal))
    signal.addEventListener('abort', this.#listener, { once: true })
  }

  /** Idempotent. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.call.release()
    if (this.#listener) this.call.options.signal?.removeEventListener('abort', this.#listener)
  }
}

interface SealedRecorderParts {
  readonly sealing: Sealing
  readonly outcomes: Pick<Outcomes, 'rejected' | 'ownDrafts' | 'intendedDrafts'>
  readonly deadlineMs: number
}

/** The part of the deadline for which drafts wait for keys, so that others behind them are still stored in time. */
const KEYS_SHARE = 4

function keysError(thrown: unknown, waitMs: number, isLate: boolean): AuditLogError {
  if (thrown instanceof AuditLogError && thrown.code === 'KEYS_UNAVAILABLE') return thrown
  const message = isLate
    ? `the keys of personal data did not come within ${waitMs} ms`
    : 'the keys of personal data cannot be had'
  return new AuditLogError('KEYS_UNAVAILABLE', message, { cause: thrown })
}

const asError = (thrown: unknown): AuditLogError =>
  thrown instanceof AuditLogError
    ? thrown
    : new AuditLogError('INVALID_EVENT', 'the event could not be prepared', { cause: thrown })

/** The keys of a turn's plans, or the error that all of them have. */
async function sealAll(
  { sealing, deadlineMs }: SealedRecorderParts,
  plans: readonly SealingPlan[],
): Promise<ReadonlyMap<SealingPlan, JsonObject> | AuditLogError> {
  const waitMs = Math.ceil(deadlineMs / KEYS_SHARE)
  using wait = timeoutSignal(waitMs)
  const { signal } = wait
  try {
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(abortedError(signal)), { once: true })
    })
    const sealed = await Promise.race([sealing.all(plans, { signal }), late])
    return new Map(plans.map((plan, i) => [plan, sealed[i]!]))
  } catch (error) {
    return keysError(error, waitMs, signal.aborted)
  }
}

/** The drafts that wait for keys, and those behind them. */
function createLine(recorder: Recorder, parts: SealedRecorderParts) {
  const { outcomes, deadlineMs } = parts
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined

  const sealedDraft = (draft: EventDraft, attributes: JsonObject): EventDraft => {
    const sealed = { ...draft, attributes, json: JSON.stringify(attributes) }
    for (const noted of [outcomes.ownDrafts, outcomes.intendedDrafts])
      if (noted.has(draft)) noted.add(sealed)
    return sealed
  }

  const refuse = (entry: Waiting, error: AuditLogError): void => {
    entry.end()
    outcomes.rejected(entry.call.draft, error)
    entry.call.reject(error)
  }

  const pass = (entry: Waiting, attributes: JsonObject | undefined): void => {
    const { draft, options, deadline, resolve } = entry.call
    try {
      entry.end()
      const sealed = attributes ? sealedDraft(draft, attributes) : draft
      resolve(recorder.add(sealed, { ...options, deadline }))
    } catch (thrown) {
      refuse(entry, asError(thrown))
    }
  }

  const isOpen = ({ isOver }: Waiting): boolean => !isOver
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      // Calls of the same turn share a look-up.
      await Promise.resolve()
      const batch = [...waiting]
      const plans = batch.filter(isOpen).flatMap(({ call }) => call.plan ?? [])
      const sealed = plans.length > 0 ? await sealAll(parts, plans) : new Map()
      for (const entry of batch.filter(isOpen)) {
        const { plan } = entry.call
        if (!plan) pass(entry, undefined)
        else if (sealed instanceof AuditLogError) refuse(entry, sealed)
        else pass(entry, sealed.get(plan))
      }
      waiting = waiting.slice(batch.length)
    }
    running = undefined
  }

  return {
    sealedDraft,
    /** Resolves when no draft waits; `undefined` if none does. */
    running: () => running,
    /** Adds the draft to the recorder once it has its keys, in its turn. Throws `QUEUE_FULL`. */
    wait(
      draft: EventDraft,
      plan: SealingPlan | undefined,
      options: AddOptions,
    ): Promise<AuditEvent | undefined> {
      const release = recorder.hold(draft)
      const deadline = options.deadline ?? performance.now() + deadlineMs
      return new Promise((resolve, reject) => {
        const entry = new Waiting({ draft, plan, options, deadline, resolve, reject, release })
        entry.onAbort((error) => refuse(entry, error))
        waiting.push(entry)
        running ??= run()
      })
    },
  }
}

/**
 * A recorder that encrypts the personal values of drafts before it passes them on. Drafts keep their order: those behind one
 * that waits for a key wait too. If keys cannot be had, the drafts with personal values reject with `KEYS_UNAVAILABLE` under
 * every failure policy.
 */
export function sealedRecorder(recorder: Recorder, parts: SealedRecorderParts): Recorder {
  const { sealing } = parts
  const line = createLine(recorder, parts)
  const afterLine = (act: () => Promise<void>): Promise<void> => line.running()?.then(act) ?? act()
  return {
    ...recorder,
    add(draft, options = {}) {
      throwIfAborted(options.signal)
      const plan = sealing.plan(draft)
      const isFree = !line.running()
      // Events of the log itself have no place among the calls.
      if (!plan && (isFree || options.isOwn)) return recorder.add(draft, options)
      const sealed = plan && isFree ? sealing.now(plan) : undefined
      if (sealed) return recorder.add(line.sealedDraft(draft, sealed), options)
      return line.wait(draft, plan, options)
    },
    enlist(draft, transaction, options) {
      const plan = sealing.plan(draft)
      if (!plan) return recorder.enlist(draft, transaction, options)
      const sealed = sealing.now(plan)
      if (sealed) return recorder.enlist(line.sealedDraft(draft, sealed), transaction, options)
      const message = `${draft.type}: a call with a transaction needs the keys of its subjects in memory: await loadKeys before, and name them in the data`
      throw new AuditLogError('KEYS_UNAVAILABLE', message)
    },
    flush: () => afterLine(() => recorder.flush()),
    close: () => afterLine(() => recorder.close()),
  }
}
