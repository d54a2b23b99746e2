import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogError, throwIfAborted } from '../errors.js'
import type { AppendOptions, EventStore } from '../store/store.js'

/** The methods of a store that can be made to go wrong: those that wait. */
export type FaultyMethod = Exclude<
  keyof EventStore,
  'name' | 'maxBatch' | 'clock' | 'watch' | 'close'
>

/**
 * A store whose calls go wrong as they are told to. Faults of one method befall its next calls in
 * the order in which they were asked for, each as many calls as `times` says; without it every call
 * until `heal`.
 */
export interface FaultyStore extends EventStore {
  /** The call has no effect and rejects: `STORE_FAILED` with this cause, or an `AuditLogError` itself. */
  fail(method: FaultyMethod, times?: number, error?: unknown): void
  /** The call has no effect before `heal`, and does its work then. Given up before, it never does. */
  hang(method: FaultyMethod, times?: number): void
  /** The call does its work so many milliseconds later. Given up before, it never does. */
  delay(method: FaultyMethod, milliseconds: number, times?: number): void
  /**
   * The call does its work, but its answer is lost. An append may not reject then: it is answered
   * when the store finds what it has kept, at `heal` or as the caller gives up. Other calls reject
   * with `STORE_FAILED`.
   */
  loseAcknowledgement(method: FaultyMethod, times?: number): void
  /** Nothing goes wrong from now on; calls that hang go on, those that are delayed at once. */
  heal(): void
}

type Fault =
  | { readonly kind: 'fail'; readonly error: unknown }
  | { readonly kind: 'hang' }
  | { readonly kind: 'delay'; readonly milliseconds: number }
  | { readonly kind: 'lose' }

interface PlannedFault {
  readonly fault: Fault
  times: number
}

/**
 * For tests of what a host does when its store is in trouble: the same store, and it keeps the
 * contract, but calls fail, hang, take their time, or lose their answer on demand.
 *
 * ```ts
 * const store = faultyStore(memoryStore())
 * const audit = new AuditLog({ store, types, waiting: { deadlineMs: 100 } })
 * store.hang('append')
 * await assert.rejects(audit.record('api:changes:create'), { code: 'DEADLINE_EXCEEDED' })
 * store.heal()
 * ```
 */
export function faultyStore(store: EventStore): FaultyStore {
  const planned = new Map<FaultyMethod, PlannedFault[]>()
  /** Aborts when the store is healed, and is replaced by then. */
  let illness = new AbortController()
  let isClosed = false

  const plan = (method: FaultyMethod, fault: Fault, times = Infinity): void => {
    const faults = planned.get(method) ?? []
    planned.set(method, [...faults, { fault, times }])
  }

  const nextFault = (method: FaultyMethod): Fault | undefined => {
    const faults = planned.get(method) ?? []
    while (faults[0] && faults[0].times <= 0) faults.shift()
    const [next] = faults
    if (next) next.times--
    return next?.fault
  }

  const failure = (message: string, cause?: unknown): AuditLogError => {
    if (cause instanceof AuditLogError) return cause
    return new AuditLogError('STORE_FAILED', `the ${store.name} store failed: ${message}`, {
      cause: cause ?? new Error(message),
    })
  }

  /** Resolves when the store is healed, or after so long; `ABORTED` where the caller gives up first. */
  const trouble = async (options: AppendOptions = {}, milliseconds = Infinity): Promise<void> => {
    const { signal, deadline = Infinity } = options
    const { signal: healed } = illness
    const left = Math.max(0, deadline - performance.now())
    // A timer cuts fractions, and would end before the deadline.
    await wait(
      Math.min(milliseconds, Math.ceil(left)),
      AbortSignal.any(signal ? [healed, signal] : [healed]),
    )
    throwIfAborted(signal)
    if (left <= milliseconds && !healed.aborted)
      throw new AuditLogError('ABORTED', 'the deadline is over')
  }

  const call = async <Result>(
    method: FaultyMethod,
    options: AppendOptions | undefined,
    act: () => Promise<Result>,
  ): Promise<Result> => {
    if (isClosed || options?.signal?.aborted) return act()
    const fault = nextFault(method)
    switch (fault?.kind) {
      case undefined:
        return act()
      case 'fail':
        throw failure(`${method} was made to fail`, fault.error)
      case 'hang':
      case 'delay':
        await trouble(options, fault.kind === 'delay' ? fault.milliseconds : Infinity)
        return act()
      case 'lose': {
        const result = await act()
        if (method !== 'append') throw failure(`the answer of ${method} was lost`)
        await trouble(options).catch(() => {})
        return result
      }
    }
  }

  return {
    name: store.name,
    maxBatch: store.maxBatch,
    clock: store.clock,

    append: (drafts, options) => call('append', options, () => store.append(drafts, options)),
    ...(store.enlist && {
      enlist: (draft, transaction, options) =>
        call('enlist', options, () => store.enlist!(draft, transaction, options)),
    }),
    importEvents: (events, options) =>
      call('importEvents', options, () => store.importEvents(events, options)),
    get: (id, options) => call('get', options, () => store.get(id, options)),
    list: (query, options) => call('list', options, () => store.list(query, options)),
    count: (query, options) => call('count', options, () => store.count(query, options)),
    removeBefore: (time, options) =>
      call('removeBefore', options, () => store.removeBefore(time, options)),
    remove: (ids, options) => call('remove', options, () => store.remove(ids, options)),
    excess: (bounds, options) => call('excess', options, () => store.excess(bounds, options)),
    reportSuppressed: (report, options) =>
      call('reportSuppressed', options, () => store.reportSuppressed(report, options)),
    recordSuppressed: (draftOf, options) =>
      call('recordSuppressed', options, () => store.recordSuppressed(draftOf, options)),
    updateState: (key, change, options) =>
      call('updateState', options, () => store.updateState(key, change, options)),
    changeLive: (id, change, options) =>
      call('changeLive', options, () => store.changeLive(id, change, options)),
    touchLive: (ids, options) => call('touchLive', options, () => store.touchLive(ids, options)),
    closeLive: (id, change, options) =>
      call('closeLive', options, () => store.closeLive(id, change, options)),
    openEvents: (options) => call('openEvents', options, () => store.openEvents(options)),
    ...(store.analyze && {
      analyze: (options) => call('analyze', options, () => store.analyze!(options)),
    }),
    watch: (hint) => store.watch(hint),

    async close() {
      isClosed = true
      await store.close()
      // What hangs finds the store closed.
      illness.abort()
    },

    fail: (method, times, error) => plan(method, { kind: 'fail', error }, times),
    hang: (method, times) => plan(method, { kind: 'hang' }, times),
    delay: (method, milliseconds, times) => plan(method, { kind: 'delay', milliseconds }, times),
    loseAcknowledgement: (method, times) => plan(method, { kind: 'lose' }, times),
    heal() {
      planned.clear()
      illness.abort()
      illness = new AbortController()
    },
  }
}

// Longer than setTimeout can wait.
const FOREVER_MS = 2_147_483_647

/** Resolves after so long, or when the signal aborts. */
async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds < FOREVER_MS) {
    await delay(milliseconds, undefined, { signal }).catch(() => {})
    return
  }
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
