import { AuditLogError } from '../errors.js'
import { parseEventId } from '../event/event-id.js'
import type { Clock } from '../event/timestamp.js'
import { setBackground } from '../store/background.js'
import type { ClockDoubt } from '../store/clock-guard.js'
import type { Damage } from '../store/damage.js'
import { TIMES } from '../coordination/times.js'
import type { LedgerStore } from '../store/ledger.js'
import type { EventStore } from '../store/store.js'

export interface ReopenedStoreOptions {
  readonly key: string
  /** Opens the store. May be called while the previous store is still closing. May throw. */
  readonly open: () => EventStore
  /** Called after the store was opened. */
  readonly onOpened: () => void
  /** Called before each call that counts as use. */
  readonly onUsed: () => void
  /** Called once the user has closed the store. */
  readonly onClosed: () => void
}

/** Methods of every store that return a promise. */
const CALLS = [
  'importEvents',
  'get',
  'list',
  'count',
  'removeBefore',
  'remove',
  'excess',
  'reportSuppressed',
  'recordSuppressed',
  'updateState',
  'updateStates',
  'readStates',
  'touchLive',
  'openEvents',
] as const satisfies readonly (keyof EventStore)[]

/** Methods of some stores that return a promise. */
const OPTIONAL_CALLS = [
  'consistencyToken',
  'enlist',
  'removableRanges',
  'readRange',
  'removeRange',
  'analyze',
  'health',
  'verify',
  'rebuildIndex',
  'scrub',
] as const satisfies readonly (keyof EventStore)[]

const LEDGER_CALLS = [
  'begin',
  'state',
  'unsealed',
  'late',
  'append',
  'remove',
  'release',
  'restart',
  'rows',
  'nodes',
  'statements',
  'leavesOf',
  'events',
  'eventsAt',
  'waiting',
] as const satisfies readonly (keyof LedgerStore)[]

type Hint = Parameters<EventStore['watch']>[0]

type AnyCall = (...values: unknown[]) => Promise<unknown>

/** Handlers that are added to each store when it is opened. */
interface Attached<Handler> {
  add(handler: Handler): () => void
  attach(store: EventStore): void
  /** Removes all references to a closed store, so that its memory can be freed. */
  forget(): void
}

function createAttached<Handler>(
  attachTo: (store: EventStore, handler: Handler) => (() => void) | undefined,
  current: () => EventStore | undefined,
): Attached<Handler> {
  const detach = new Map<symbol, { readonly handler: Handler; end: (() => void) | undefined }>()
  return {
    add(handler) {
      const id = Symbol('handler')
      const store = current()
      detach.set(id, { handler, end: store && attachTo(store, handler) })
      return () => {
        const added = detach.get(id)
        if (!detach.delete(id)) return
        added?.end?.()
      }
    },
    attach(store) {
      for (const added of detach.values()) added.end = attachTo(store, added.handler)
    },
    forget() {
      for (const added of detach.values()) added.end = undefined
    },
  }
}

/** The ids of the open live events of this process, from the results of the calls that open and close events. */
function createLiveIds() {
  const open = new Set<string>()
  return {
    size: () => open.size,
    delete: (id: string): boolean => open.delete(id),
    /** Adds the stored events whose drafts are live. */
    addFrom(
      drafts: Parameters<EventStore['append']>[0],
      stored: Awaited<ReturnType<EventStore['append']>>,
    ): void {
      const suffixes = new Set(drafts.flatMap(({ live, suffix }) => (live ? [suffix] : [])))
      if (suffixes.size === 0) return
      for (const { id } of stored) if (suffixes.has(parseEventId(id)?.suffix ?? '')) open.add(id)
    },
  }
}

/**
 * True if the doubt is reported. Doubts at the start are not: a log without events for a long time is usual among many
 * logs.
 */
const isJump = ({ reason }: ClockDoubt): boolean => reason === 'jump'

/** The store of one log. It is closed while it is not used, and the next call opens it again. */
export class ReopenedStore {
  /** The store for the host. Its calls open the store. */
  readonly store: EventStore
  /** The same store for work that does not count as use. Its `close` has no effect. */
  readonly background: EventStore
  readonly #options: ReopenedStoreOptions
  #current: EventStore | undefined
  /** The clock of the last open store. */
  #clock: Clock | undefined
  #inFlight = 0
  #watchers = 0
  #lastUsed = -Infinity
  readonly #looks: (() => void)[] = []
  readonly #releases: (() => Promise<unknown>)[] = []
  #closed: Promise<void> | undefined
  /** Resolves when all previous stores are closed. */
  #releasing: Promise<void> = Promise.resolve()
  readonly #live = createLiveIds()
  readonly #hints: Attached<Hint>
  readonly #damages: Attached<(damage: Damage) => void>
  readonly #doubts: Attached<(doubt: ClockDoubt) => void>

  get #attached(): readonly Pick<Attached<never>, 'attach' | 'forget'>[] {
    return [this.#hints, this.#damages, this.#doubts]
  }

  /** Opens the store, to find out its methods. Rethrows errors of `open`. */
  constructor(options: ReopenedStoreOptions) {
    this.#options = options
    const current = (): EventStore | undefined => this.#current
    this.#hints = createAttached((store, hint) => store.watch(hint), current)
    this.#damages = createAttached((store, handler) => store.watchDamage?.(handler), current)
    this.#doubts = createAttached(
      (store, handler) => store.watchClock?.((doubt) => isJump(doubt) && handler(doubt)),
      current,
    )
    this.store = this.#facade(true, () => this.#close())
    this.background = this.#facade(false, async () => {})
    setBackground(this.store, {
      store: this.background,
      isOpen: () => this.isOpen(),
      onLook: (look) => void this.#looks.push(look),
      onRelease: (work) => void this.#releases.push(work),
    })
  }

  isOpen(): boolean {
    return this.#current !== undefined
  }

  /** Opens the store, if it is not open. */
  open(): void {
    this.#acquire()
  }

  /** Runs the periodic checks of the store. Called regularly while the store is open. */
  look(): void {
    for (const look of this.#looks) look()
  }

  noteUse(): void {
    this.#lastUsed = performance.now()
    this.#options.onUsed()
  }

  /** True while calls are in progress, something watches the store, or it has open live events of this process. */
  isInUse(): boolean {
    if (this.#inFlight > 0 || this.#watchers > 0) return true
    // Live events need the heartbeats of this process: without them, the store closes the events.
    return this.#live.size() > 0 && performance.now() - this.#lastUsed < TIMES.work.timeoutMs
  }

  /** The time of the last use, as `performance.now()` counts. */
  lastUsed(): number {
    return this.#lastUsed
  }

  /** Lets background work finish before `release`. */
  async beforeRelease(): Promise<void> {
    await Promise.allSettled(this.#releases.map((work) => work()))
  }

  /** Closes the store; the next call opens it again. Call it only if the store is not in use. */
  release(): Promise<void> {
    this.#releasing = this.#end()
    return this.#releasing
  }

  #close(): Promise<void> {
    this.#closed ??= this.#end().finally(this.#options.onClosed)
    return this.#closed
  }

  async #end(): Promise<void> {
    const store = this.#current
    this.#current = undefined
    for (const attached of this.#attached) attached.forget()
    await Promise.allSettled([this.#releasing, store?.close()])
  }

  #acquire(): EventStore {
    const { key, open, onOpened } = this.#options
    if (this.#closed) throw new AuditLogError('CLOSED', `the log ${key} is closed`)
    if (this.#current) return this.#current
    const opened = open()
    this.#current = opened
    this.#clock = opened.clock
    for (const attached of this.#attached) attached.attach(opened)
    onOpened()
    return opened
  }

  /** Runs the call synchronously, because `enlist` must issue its statement before it returns. */
  async #use<Result>(call: (store: EventStore) => Promise<Result>): Promise<Result> {
    this.#inFlight += 1
    try {
      this.noteUse()
      return await call(this.#acquire())
    } finally {
      this.#inFlight -= 1
      this.#lastUsed = performance.now()
    }
  }

  #watch(isUse: boolean, hint: Hint): () => void {
    try {
      this.#acquire()
    } catch {
      // Hints may be missing; the calls of the watcher report the failure.
    }
    const unwatch = this.#hints.add(hint)
    if (isUse) this.#watchers += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (isUse) this.#watchers -= 1
      unwatch()
    }
  }

  #facade(isUse: boolean, close: () => Promise<void>): EventStore {
    const shape = this.#acquire()
    const use = <Result>(call: (store: EventStore) => Promise<Result>): Promise<Result> =>
      isUse ? this.#use(call) : this.#call(call)
    const calls: Record<string, AnyCall> = {}
    for (const name of [...CALLS, ...OPTIONAL_CALLS.filter((name) => shape[name])])
      calls[name] = (...values) => use((store) => (store[name] as AnyCall).apply(store, values))
    const ledger: Record<string, AnyCall> = {}
    for (const name of LEDGER_CALLS)
      ledger[name] = (...values) =>
        use((store) => (store.ledger![name] as AnyCall).apply(store.ledger, values))
    return {
      ...(calls as unknown as Pick<EventStore, (typeof CALLS)[number]>),
      ...(shape.ledger && { ledger: ledger as unknown as LedgerStore }),
      ...this.#liveCalls(use),
      name: shape.name,
      readOnly: shape.readOnly,
      tuning: shape.tuning,
      clock: shape.clock && this.#clockOf(shape.clock),
      watch: (hint) => this.#watch(isUse, hint),
      ...(shape.watchDamage && { watchDamage: (handler) => this.#damages.add(handler) }),
      ...(shape.watchClock && { watchClock: (handler) => this.#doubts.add(handler) }),
      ...(shape.highWaterAtStart && {
        highWaterAtStart: () => this.#current?.highWaterAtStart?.(),
      }),
      ...(shape.acceptClock && { acceptClock: () => this.#current?.acceptClock?.() }),
      close,
    }
  }

  #clockOf({ monotonic }: Clock): Clock {
    return Object.assign(() => this.#clock!(), {
      monotonic,
      ahead: () => this.#clock!.ahead?.() ?? 0,
    })
  }

  async #call<Result>(call: (store: EventStore) => Promise<Result>): Promise<Result> {
    return call(this.#acquire())
  }

  #liveCalls(
    use: <Result>(call: (store: EventStore) => Promise<Result>) => Promise<Result>,
  ): Pick<EventStore, 'append' | 'changeLive' | 'closeLive'> {
    const live = this.#live
    return {
      append: (drafts, options) =>
        use(async (store) => {
          const stored = await store.append(drafts, options)
          live.addFrom(drafts, stored)
          return stored
        }),
      changeLive: (id, change, options) =>
        use(async (store) => {
          const isOpen = await store.changeLive(id, change, options)
          if (!isOpen) live.delete(id)
          return isOpen
        }),
      closeLive: (id, change, options) =>
        use(async (store) => {
          const event = await store.closeLive(id, change, options)
          live.delete(id)
          return event
        }),
    }
  }
}
