import { setImmediate as nextTurn } from 'node:timers/promises'
import { abortedError, AuditLogError, throwIfAborted } from './errors.js'
import type { AuditEvent, EventDraft } from './event.js'
import type { EventStore, WaitOptions } from './store.js'

export interface RecorderOptions {
  /**
   * How long one event may wait for the store, in milliseconds, at least 1.
   * @default 10000
   */
  readonly deadlineMs: number
  /**
   * Most events that wait at one time; beyond it `record` rejects with `QUEUE_FULL`.
   * @default 10000
   */
  readonly maxWaiting: number
  /**
   * Most bytes of attributes (JSON text) that wait at one time.
   * @default 67108864
   */
  readonly maxWaitingBytes: number
}

export const defaultRecorderOptions: RecorderOptions = {
  deadlineMs: 10_000,
  maxWaiting: 10_000,
  maxWaitingBytes: 67_108_864,
}

// setTimeout takes no more, and fires at once beyond it.
const MAX_TIMER_MS = 2_147_483_647

const noop = (): void => {}

const timerMs = (ms: number): number => Math.min(Math.max(1, Math.ceil(ms)), MAX_TIMER_MS)

interface Entry {
  readonly draft: EventDraft
  /** Bytes of its JSON text. */
  readonly bytes: number
  /** On the scale of `performance.now()`. */
  readonly expires: number
  readonly resolve: (event: AuditEvent) => void
  readonly reject: (error: AuditLogError) => void
  readonly signal: AbortSignal | undefined
  onAbort: (() => void) | undefined
  settled: boolean
  /** Those who flush. */
  readonly onSettled: (() => void)[]
}

/** Told of what became of drafts, in order, before their calls settle and after they count as such. */
export interface RecorderObserver {
  stored(events: readonly AuditEvent[]): void
  /** Handed over to a transaction of the host's. */
  enlisted(): void
  rejected(draft: EventDraft, error: AuditLogError): void
}

/** The queue before the store: calls of one turn, and of the time a commit takes, go together. */
export interface Recorder {
  /**
   * Resolves to the durable event. Drafts are stored in the order they are added. Throws at once
   * what refuses the draft: `QUEUE_FULL`, `ABORTED`.
   */
  add(draft: EventDraft, options?: WaitOptions): Promise<AuditEvent>
  /**
   * Has the store make the draft part of a transaction of the host's, before the call returns and
   * past the queue. It counts as waiting, without a deadline: only the end of the store's attempt
   * tells whether the draft is in the transaction. Throws at once as `add`, and `INVALID_OPTION`
   * where the store knows no transactions.
   */
  enlist(draft: EventDraft, transaction: object, options?: WaitOptions): Promise<undefined>
  /** Events that neither the store nor an error has settled yet. */
  waiting(): number
  /** Resolves when all that was added before is settled. */
  flush(): Promise<void>
}

/**
 * Group commit without a timer: the first call schedules a flush for the end of the event loop's
 * turn; whatever is added until a commit returns makes up the next batch. An event that cannot be
 * stored within its deadline is rejected, and never stored afterwards.
 */
export function createRecorder(
  store: EventStore,
  options: RecorderOptions,
  observer: RecorderObserver,
): Recorder {
  let queue: Entry[] = []
  let inFlight: readonly Entry[] = []
  let waiting = 0
  let waitingBytes = 0
  let running: Promise<void> | undefined
  let sweeper: NodeJS.Timeout | undefined
  let giveUp = new AbortController()
  const enlisting = new Set<Promise<unknown>>()

  /** Makes room for the draft, or throws; gives its bytes. */
  const admit = (draft: EventDraft, signal: AbortSignal | undefined): number => {
    throwIfAborted(signal)
    if (waiting >= options.maxWaiting || waitingBytes >= options.maxWaitingBytes) {
      const message = `${waiting} events already wait for the ${store.name} store`
      throw new AuditLogError('QUEUE_FULL', message)
    }
    const bytes = Buffer.byteLength(draft.json)
    waiting++
    waitingBytes += bytes
    return bytes
  }
  const dismiss = (bytes: number): void => {
    waiting--
    waitingBytes -= bytes
  }
  const settle = (entry: Entry): void => {
    entry.settled = true
    dismiss(entry.bytes)
    if (entry.onAbort) entry.signal?.removeEventListener('abort', entry.onAbort)
    for (const tell of entry.onSettled) tell()
  }
  const reject = (entry: Entry, error: AuditLogError): void => {
    if (entry.settled) return
    settle(entry)
    observer.rejected(entry.draft, error)
    entry.reject(error)
  }
  const expire = (entry: Entry, cause?: unknown, reason = ''): void => {
    const message = `the ${store.name} store did not take the event within ${options.deadlineMs} ms`
    reject(entry, new AuditLogError('DEADLINE_EXCEEDED', message + reason, { cause }))
  }
  const isDue = (entry: Entry): boolean => entry.expires <= performance.now()

  /** Gives up a commit that takes too long, and rejects what waits behind it, oldest first. */
  const sweep = (): void => {
    sweeper = undefined
    if (inFlight[0] && isDue(inFlight[0])) giveUp.abort()
    while (queue[0] && isDue(queue[0])) expire(queue.shift()!)
    scheduleSweep()
  }
  // One timer for all: it comes to the oldest event's deadline, and mostly finds that one stored.
  const scheduleSweep = (): void => {
    const oldest = giveUp.signal.aborted ? queue[0] : (inFlight[0] ?? queue[0])
    if (sweeper || !oldest) return
    sweeper = setTimeout(sweep, timerMs(oldest.expires - performance.now()))
    sweeper.unref()
  }

  const takeBatch = (): Entry[] => {
    const batch: Entry[] = []
    let taken = 0
    for (const entry of queue) {
      if (batch.length === store.maxBatch) break
      taken++
      if (!entry.settled) batch.push(entry)
    }
    queue = queue.slice(taken)
    return batch
  }

  /** One attempt for one batch; gives back what is to be tried again. */
  const commit = async (batch: readonly Entry[]): Promise<Entry[]> => {
    if (giveUp.signal.aborted) giveUp = new AbortController()
    const { signal } = giveUp
    try {
      const drafts = batch.map((entry) => entry.draft)
      const events = await store.append(drafts, { signal, deadline: batch[0]!.expires })
      for (const entry of batch) settle(entry)
      observer.stored(events)
      for (const [i, entry] of batch.entries()) entry.resolve(events[i]!)
      return []
    } catch (error) {
      const failure = asStoreFailure(store, error)
      if (failure.code !== 'ABORTED') {
        for (const entry of batch) reject(entry, failure)
        return []
      }
      const reason = reasonOf(failure, signal)
      for (const entry of batch) {
        if (isDue(entry)) expire(entry, failure, reason)
        else if (entry.signal?.aborted) reject(entry, abortedError(entry.signal))
      }
      return batch.filter((entry) => !entry.settled)
    }
  }

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      // The turn's other calls come along, and the event loop gets its turn between two commits.
      await nextTurn()
      const batch = takeBatch()
      if (batch.length === 0) continue
      inFlight = batch
      const again = await commit(batch)
      inFlight = []
      if (again.length > 0) {
        queue = [...again, ...queue]
        clearTimeout(sweeper)
        sweeper = undefined
        scheduleSweep()
      }
    }
    running = undefined
  }

  return {
    add(draft, { signal } = {}) {
      const bytes = admit(draft, signal)
      return new Promise((resolve, rejectCall) => {
        const entry: Entry = {
          draft,
          bytes,
          expires: performance.now() + options.deadlineMs,
          resolve,
          reject: rejectCall,
          signal,
          onAbort: undefined,
          settled: false,
          onSettled: [],
        }
        if (signal) {
          // Once the store has it, only the store's answer can tell whether it is kept.
          entry.onAbort = () => {
            if (queue.includes(entry)) reject(entry, abortedError(signal))
          }
          signal.addEventListener('abort', entry.onAbort, { once: true })
        }
        queue.push(entry)
        scheduleSweep()
        running ??= run()
      })
    },
    enlist(draft, transaction, { signal } = {}) {
      if (!store.enlist) {
        const message = `the ${store.name} store cannot take part in a transaction`
        throw new AuditLogError('INVALID_OPTION', message)
      }
      if (transaction === null || typeof transaction !== 'object')
        throw new AuditLogError('INVALID_OPTION', 'transaction must be an open database handle')
      const bytes = admit(draft, signal)
      // An async function runs to its first `await` within the call, and never throws.
      const attempt = async (): Promise<undefined> => {
        try {
          await store.enlist!(draft, transaction, { signal })
        } catch (error) {
          const failure = asStoreFailure(store, error)
          dismiss(bytes)
          observer.rejected(draft, failure)
          throw failure
        }
        dismiss(bytes)
        observer.enlisted()
        return undefined
      }
      const call = attempt()
      const settled: Promise<void> = call
        .then(noop, noop)
        .then(() => void enlisting.delete(settled))
      enlisting.add(settled)
      return call
    },
    waiting: () => waiting,
    async flush() {
      const pending = [...inFlight, ...queue].filter((entry) => !entry.settled)
      await Promise.all([
        ...enlisting,
        ...pending.map((entry) => new Promise<void>((resolve) => entry.onSettled.push(resolve))),
      ])
    },
  }
}

function asStoreFailure(store: EventStore, error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  return new AuditLogError('STORE_FAILED', `the ${store.name} store failed`, { cause: error })
}

const MAX_CAUSES = 20

/** `: <what the driver said last>` where the store knows why it did not get to it, else nothing. */
function reasonOf(failure: AuditLogError, { reason: ours }: AbortSignal): string {
  let innermost: unknown = failure
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    // As `net` gives them for a name with several addresses, without a message of their own.
    const isBundle = innermost instanceof AggregateError && innermost.message === ''
    const cause = isBundle
      ? (innermost as AggregateError).errors[0]
      : innermost instanceof Error
        ? innermost.cause
        : undefined
    if (!(cause instanceof Error)) break
    innermost = cause
  }
  const { message } = innermost as Error
  return innermost === failure || innermost === ours || message === '' ? '' : `: ${message}`
}
