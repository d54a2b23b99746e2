import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogError, throwIfAborted } from '../errors.js'
import type { AppendOptions, EventStore } from '../store/store.js'

/** The methods of a store that can be given faults: those that return a promise, except `close`. */
export type FaultyMethod = Exclude<
  keyof EventStore,
  'name' | 'maxBatch' | 'clock' | 'watch' | 'close'
>

/**
 * A store with faults on demand. The faults of a method apply to its next calls in the order in
 * which they were requested, each to `times` calls, or without `times` to every call until `heal`.
 */
export interface FaultyStore extends EventStore {
  /**
   * The call has no effect and rejects: with `error` if it is an `AuditLogError`, otherwise with
   * `STORE_FAILED` and `error` as its cause.
   */
  fail(method: FaultyMethod, times?: number, error?: unknown): void
  /** The call waits for `heal` and then runs. If it is aborted first, it never runs. */
  hang(method: FaultyMethod, times?: number): void
  /** The call runs after this many milliseconds. If it is aborted first, it never runs. */
  delay(method: FaultyMethod, milliseconds: number, times?: number): void
  /**
   * The call takes effect, but its acknowledgement is lost. Calls reject with `STORE_FAILED`, except
   * `append`, which rejects only if nothing was stored: it resolves at `heal` or when it is aborted.
   */
  loseAcknowledgement(method: FaultyMethod, times?: number): void
  /** Removes all faults. Calls that hang or are delayed run at once. */
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
 * Wraps a store for tests of how a host handles store failures. The wrapper keeps the contract of
 * `EventStore`, but its calls fail, hang, take longer or lose their acknowledgement on demand.
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
  /** Its signal aborts at `heal`, which then replaces it. */
  let healing = new AbortController()
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

  /** Resolves at `heal` or after `milliseconds`; rejects with `ABORTED` if the call is aborted first. */
  const waitForHeal = async (
    options: AppendOptions = {},
    milliseconds = Infinity,
  ): Promise<void> => {
    const { signal, deadline = Infinity } = options
    const { signal: healed } = healing
    const remaining = Math.max(0, deadline - performance.now())
    // Timers drop fractions of a millisecond and would end before the deadline.
    await wait(
      Math.min(milliseconds, Math.ceil(remaining)),
      AbortSignal.any(signal ? [healed, signal] : [healed]),
    )
    throwIfAborted(signal)
    if (remaining <= milliseconds && !healed.aborted)
      throw new AuditLogError('ABORTED', 'the deadline has passed')
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
        await waitForHeal(options, fault.kind === 'delay' ? fault.milliseconds : Infinity)
        return act()
      case 'lose': {
        const result = await act()
        if (method !== 'append') throw failure(`the acknowledgement of ${method} was lost`)
        await waitForHeal(options).catch(() => {})
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
      // Calls that hang now run and find the store closed.
      healing.abort()
    },

    fail: (method, times, error) => plan(method, { kind: 'fail', error }, times),
    hang: (method, times) => plan(method, { kind: 'hang' }, times),
    delay: (method, milliseconds, times) => plan(method, { kind: 'delay', milliseconds }, times),
    loseAcknowledgement: (method, times) => plan(method, { kind: 'lose' }, times),
    heal() {
      planned.clear()
      healing.abort()
      healing = new AbortController()
    },
  }
}

// The longest delay of setTimeout.
const MAX_DELAY_MS = 2_147_483_647

/** Resolves after `milliseconds`, or when the signal aborts. */
async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds < MAX_DELAY_MS) {
    await delay(milliseconds, undefined, { signal }).catch(() => {})
    return
  }
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
