import type { EventStore } from '../store/store.js'
import { createFaults } from './faults.js'

/** The methods of a store that can have faults: methods that return a promise, except `close`. */
export type FaultyMethod = Exclude<
  keyof EventStore,
  | 'name'
  | 'tuning'
  | 'clock'
  | 'watch'
  | 'watchDamage'
  | 'watchClock'
  | 'highWaterAtStart'
  | 'acceptClock'
  | 'close'
>

/**
 * A store with faults on demand. The faults of a method apply to its next calls in the order of the requests. Each
 * fault applies to `times` calls, or without `times` to every call until `heal`.
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

type Call = ReturnType<typeof createFaults<FaultyMethod>>['call']

function faultyRanges(
  store: EventStore,
  call: Call,
): Pick<EventStore, 'removableRanges' | 'readRange' | 'removeRange'> {
  if (!store.removableRanges) return {}
  return {
    removableRanges: (time, options) =>
      call('removableRanges', options, () => store.removableRanges!(time, options)),
    readRange: (range, options) =>
      call('readRange', options, () => store.readRange!(range, options)),
    removeRange: (range, options) =>
      call('removeRange', options, () => store.removeRange!(range, options)),
  }
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
  const faults = createFaults<FaultyMethod>(store.name)
  const { plan, call } = faults

  return {
    name: store.name,
    tuning: store.tuning,
    clock: store.clock,

    append: (drafts, options) => call('append', options, (given) => store.append(drafts, given)),
    ...(store.enlist && {
      enlist: (draft, transaction, options) =>
        call('enlist', options, () => store.enlist!(draft, transaction, options)),
    }),
    importEvents: (events, options) =>
      call('importEvents', options, () => store.importEvents(events, options)),
    ...(store.consistencyToken && {
      consistencyToken: (options) =>
        call('consistencyToken', options, () => store.consistencyToken!(options)),
    }),
    get: (id, options) => call('get', options, () => store.get(id, options)),
    list: (query, options) => call('list', options, () => store.list(query, options)),
    count: (query, options) => call('count', options, () => store.count(query, options)),
    removeBefore: (time, options) =>
      call('removeBefore', options, () => store.removeBefore(time, options)),
    ...faultyRanges(store, call),
    remove: (ids, options) => call('remove', options, () => store.remove(ids, options)),
    excess: (bounds, options) => call('excess', options, () => store.excess(bounds, options)),
    reportSuppressed: (report, options) =>
      call('reportSuppressed', options, () => store.reportSuppressed(report, options)),
    recordSuppressed: (draftOf, options) =>
      call('recordSuppressed', options, () => store.recordSuppressed(draftOf, options)),
    updateState: (key, change, options) =>
      call('updateState', options, () => store.updateState(key, change, options)),
    updateStates: (keys, change, options) =>
      call('updateStates', options, () => store.updateStates(keys, change, options)),
    readStates: (prefix, options) =>
      call('readStates', options, () => store.readStates(prefix, options)),
    changeLive: (id, change, options) =>
      call('changeLive', options, () => store.changeLive(id, change, options)),
    touchLive: (ids, options) => call('touchLive', options, () => store.touchLive(ids, options)),
    closeLive: (id, change, options) =>
      call('closeLive', options, () => store.closeLive(id, change, options)),
    openEvents: (options) => call('openEvents', options, () => store.openEvents(options)),
    ...(store.analyze && {
      analyze: (options) => call('analyze', options, () => store.analyze!(options)),
    }),
    ...(store.health && {
      health: (options) => call('health', options, () => store.health!(options)),
    }),
    watch: (hint) => store.watch(hint),
    ...(store.verify && {
      verify: (options) => call('verify', options, () => store.verify!(options)),
    }),
    ...(store.rebuildIndex && {
      rebuildIndex: (options) => call('rebuildIndex', options, () => store.rebuildIndex!(options)),
    }),
    ...(store.scrub && {
      scrub: (options) => call('scrub', options, () => store.scrub!(options)),
    }),
    ...(store.watchDamage && { watchDamage: (handler) => store.watchDamage!(handler) }),
    ...(store.watchClock && { watchClock: (handler) => store.watchClock!(handler) }),
    ...(store.highWaterAtStart && { highWaterAtStart: () => store.highWaterAtStart!() }),
    ...(store.acceptClock && { acceptClock: () => store.acceptClock!() }),

    async close() {
      faults.disable()
      await store.close()
      // Calls that hang now run and find the store closed.
      faults.release()
    },

    fail: (method, times, error) => plan(method, { kind: 'fail', error }, times),
    hang: (method, times) => plan(method, { kind: 'hang' }, times),
    delay: (method, milliseconds, times) => plan(method, { kind: 'delay', milliseconds }, times),
    loseAcknowledgement: (method, times) => plan(method, { kind: 'lose' }, times),
    heal: faults.heal,
  }
}
