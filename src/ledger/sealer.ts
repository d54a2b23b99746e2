import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError, throwIfAborted, untilAborted } from '../errors.js'
import { formatTimestamp, type Microseconds, SECOND } from '../event/timestamp.js'
import { parseToken } from '../store/consistency-token.js'
import {
  type LedgerRemoval,
  type LedgerState,
  MAX_LEAVES,
  type LedgerStore,
  LEAVES_PER_ROW,
  ROW_LEVEL,
} from '../store/ledger.js'
import { changedState, isSameState } from '../store/ledger-errors.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { type Edge, edgePlaces, EMPTY, splitHashes } from './edge.js'
import { statementEntry, type Statement } from './entry.js'
import { lateLeaves } from './event-leaves.js'
import { signHead } from './head.js'
import { type Lease, leaseOf } from './lease.js'
import { boundSigner } from './bound-signer.js'
import type { LedgerSigner } from './note.js'
import { type Head, openHead } from './open-head.js'
import { type Appended, appendLeaves, loadProgress, type Progress, seedsFor } from './progress.js'
import { loadNodes } from './read-nodes.js'
import type { NewLeaf } from './rows.js'
import { createQueue, EVERY_MS, type RoundSource, startSealing } from './sealing-loop.js'
import { consistencyPath, leafHash, type ReadNode } from './tree.js'
import { vouch } from './voucher.js'

/**
 * Condition of the sealer of this process. `sealing`: it works; `standby`: another process seals; `diverged`: the tables of the
 * ledger are not those that were signed, and nothing is sealed; `failed`: the last attempt failed, and the next one follows.
 */
export type SealerState = 'sealing' | 'standby' | 'diverged' | 'failed'

export interface Sealer {
  readonly state: SealerState
  /** The error of `diverged` and `failed`. */
  readonly error: AuditLogError | undefined
  /** The largest head that this process has signed or read. */
  readonly signed: Head | undefined
  /** Seals everything that is visible now, and signs. Resolves to false if another process has the lease. */
  seal(options?: WaitOptions): Promise<boolean>
  /** Like `seal`, and keeps the nodes by which the signed head can be compared with later ones. */
  keepHead(options?: WaitOptions): Promise<boolean>
  /**
   * Seals everything that is visible now, and signs; then runs the work, and signs its leaves. Rejects with `SIGNER_REQUIRED` if another process has the
   * lease, and with `STORE_FAILED` if another process changes the ledger meanwhile.
   */
  run<Result>(act: (round: Round) => Promise<Result>, options?: WaitOptions): Promise<Result>
  /** Replaces the ledger by one of this key. `newest`: the largest signed note of the other ledger. Rejects as `run` does. */
  restart(begin: Restart, options?: WaitOptions): Promise<void>
  /** Seals the rest, and lets another process take over. */
  close(): Promise<void>
}

export interface Restart {
  readonly newest: string
  readonly size: number
  readonly reason: string
  /** The state of the ledger to replace. */
  readonly before: LedgerState
}

export interface SealerContext {
  readonly store: EventStore
  readonly ledger: LedgerStore
  readonly origin: string
  readonly signer: LedgerSigner
  /** Of a store that is closed while it is not used. @default the sealer has a timer */
  readonly background?: RoundSource | undefined
}

interface RoundContext extends SealerContext {
  readonly lease: Lease
}

/** Leaves of one transaction. More would take the event loop for longer than a few milliseconds. */
const BATCH = Math.min(2048, MAX_LEAVES)
const LATE_BATCH = 512
/** Late events that are read and hashed at once. */
const LATE_STEP = 128
/**
 * Batches of a round at an interval. It leaves more to the next one, so that a burst of events is recorded at full speed, unless it is
 * too far behind.
 */
const MAX_BATCHES = 8
const MAX_BEHIND: Microseconds = 3 * SECOND
/** A delay that is recorded. */
const MAX_DELAY: Microseconds = 10 * SECOND
const CLOSE_MS = 5000

const statementLeaf = (statement: Statement): NewLeaf & { readonly entry: string } => {
  const entry = statementEntry(statement)
  return { place: { kind: 'statement' }, hash: leafHash(entry), entry }
}

type Act = (round: Round) => Promise<void>

const anotherSeals = (): AuditLogError =>
  new AuditLogError(
    'SIGNER_REQUIRED',
    'another process seals the log, and only that one can do this',
  )

const changedMeanwhile = (): AuditLogError =>
  new AuditLogError('STORE_FAILED', 'another process has changed the ledger meanwhile; try again')

/** Thrown when another process has changed the ledger. */
class Overtaken extends Error {}

/** One round of sealing. The progress is replaced after each transaction. */
export class Round {
  progress: Progress
  readonly #context: RoundContext
  readonly #options: WaitOptions
  /** Delays up to this time are recorded. */
  #waitedTo: Microseconds

  constructor(
    context: RoundContext,
    progress: Progress,
    waitedTo: Microseconds,
    options: WaitOptions,
  ) {
    this.#context = context
    this.progress = progress
    this.#waitedTo = waitedTo
    this.#options = options
  }

  get waitedTo(): Microseconds {
    return this.#waitedTo
  }

  get ledger(): LedgerStore {
    return this.#context.ledger
  }

  #now(): Microseconds {
    return this.#context.store.clock?.() ?? Date.now() * 1000
  }

  isFarBehind(): boolean {
    return this.#now() - this.progress.state.sealedTo > MAX_BEHIND
  }

  /** Throws `Overtaken` once another process has the lease. */
  async holdLease(): Promise<void> {
    if (!(await this.#context.lease.take(this.#options))) throw new Overtaken()
  }

  async append(given: Omit<Appended, 'vouch'>): Promise<void> {
    const { ledger, signer } = this.#context
    const appended = { ...given, vouch: (edge: Edge) => vouch(signer, edge) }
    const next = await appendLeaves(ledger, this.progress, appended, this.#options)
    if (!next) throw new Overtaken()
    this.progress = next
  }

  /** Appends statements after other leaves. */
  async appendWith(
    leaves: readonly NewLeaf[],
    statements: readonly Statement[],
    rest: Omit<Appended, 'leaves' | 'statements' | 'vouch'>,
  ): Promise<void> {
    const added = statements.map(statementLeaf)
    const first = this.progress.state.size + leaves.length
    await this.append({
      ...rest,
      leaves: [...leaves, ...added],
      statements: added.map(({ entry }, i) => ({ leaf: first + i, entry })),
    })
  }

  /** Appends one statement, and returns its leaf. */
  async state(statement: Statement): Promise<number> {
    const leaf = this.progress.state.size
    await this.appendWith([], [statement], { seeds: seedsFor(this.progress, 1) })
    return leaf
  }

  /** Removes events whose removal is signed, and returns their number; `undefined` if another process has changed the ledger. */
  async remove(removal: Omit<LedgerRemoval, 'before' | 'after'>): Promise<number | undefined> {
    const { state, tail } = this.progress
    const after = changedState(state)
    const count = await this.ledger.remove({ before: state, after, ...removal }, this.#options)
    if (count === undefined) return undefined
    const changed = removal.rows.find(({ row }) => row === tail?.row)
    this.progress = { ...this.progress, state: after, tail: changed ?? tail }
    return count
  }

  async begin(first: readonly Statement[] = []): Promise<void> {
    const { state, open } = this.progress
    if (state.size > 0) return
    const statements: Statement[] = [
      ...first,
      { kind: 'began', after: formatTimestamp(state.sealedTo) },
    ]
    if (open.length > 0) statements.push({ kind: 'opened', ids: open.map(({ id }) => id) })
    await this.appendWith([], statements, { seeds: seedsFor(this.progress, statements.length) })
  }

  /** Seals some late events. Returns true if there may be more. */
  async sealLate(): Promise<boolean> {
    const { ledger } = this.#context
    const { lateTo, sealedTo, size } = this.progress.state
    const late = await ledger.late(lateTo, LATE_BATCH, this.#options)
    if (late.length === 0) return false
    // Later events follow in order; an event with a leaf was sealed in order before this list was read.
    const ids = new Map(late.map(({ id, time }) => [time, id]))
    const times = [...ids.keys()].filter((time) => time <= sealedTo)
    const known = await ledger.leavesOf(times, this.#options)
    const missing = times.filter((_, i) => known[i] === undefined)
    const seeds = seedsFor(this.progress, missing.length)
    const leaves: NewLeaf[] = []
    const sealed: { readonly id: number; readonly leaf: number }[] = []
    for (let at = 0; at < missing.length; at += LATE_STEP) {
      const events = await ledger.eventsAt(missing.slice(at, at + LATE_STEP), this.#options)
      const first = size + leaves.length
      sealed.push(...events.map(({ time }, i) => ({ id: ids.get(time)!, leaf: first + i })))
      leaves.push(...lateLeaves(events, { leaf: size, seeds }, first - size))
      await nextTurn()
    }
    await this.append({ leaves, seeds, lateTo: late.at(-1)!.id, late: sealed })
    return late.length === LATE_BATCH
  }

  /** Seals the next events in order. Returns true if there may be more of those that were visible when it began. */
  async sealNext(): Promise<boolean> {
    const { ledger } = this.#context
    const { sealedTo, size } = this.progress.state
    const seeds = seedsFor(this.progress, BATCH + 2)
    // A batch that ends with its row leaves none to be replaced by the next one.
    const limit = BATCH - (size % LEAVES_PER_ROW)
    const request = { after: sealedTo, leaf: size, seeds, limit }
    const { times, hashes, open } = await ledger.unsealed(request, this.#options)
    const [oldest] = times
    if (oldest === undefined) return false
    const leaves = splitHashes(hashes).map((hash, i): NewLeaf => ({
      place: { kind: 'event', time: times[i]! },
      hash,
    }))
    const statements: Statement[] = []
    if (open.length > 0) statements.push({ kind: 'opened', ids: open.map(({ id }) => id) })
    const now = this.#now()
    if (now - oldest > MAX_DELAY && oldest > this.#waitedTo) {
      statements.push({ kind: 'waited', from: formatTimestamp(oldest), to: formatTimestamp(now) })
      this.#waitedTo = now
    }
    await this.appendWith(leaves, statements, { seeds })
    return times.length === limit
  }

  /**
   * Signs the tree if it has leaves that no head covers. Does not sign leaves that another process has replaced: once signed, they could
   * not be replaced.
   */
  async sign(): Promise<void> {
    const { ledger, origin, signer } = this.#context
    const { state, edge, signed } = this.progress
    if (signed?.size === state.size && state.head !== undefined) return
    const found = await ledger.state(this.#options)
    if (!found || !isSameState(found, state)) throw new Overtaken()
    const last = await signer.lastNote?.()
    const from = last === undefined ? 0 : (await openHead(last, signer.vkey)).size
    const stored = await loadNodes(
      ledger,
      (read) => consistencyPath(Math.min(from, edge.size), edge.size, read),
      this.#options,
    )
    // The root follows from what this process knows, not from the tables.
    const own = new Map(edgePlaces(edge.size).map(({ level, index }) => [level, index]))
    const read: ReadNode = (level, index) =>
      own.get(level) === index ? edge.nodes.get(level)! : stored(level, index)
    // After a pause of this process, another one may seal, and replace the leaves that this one would sign.
    await this.holdLease()
    const note = await signHead({ origin, size: edge.size, read, from }, signer).catch(
      async (error: unknown) => {
        // Another process has signed meanwhile.
        throw (await signer.lastNote?.()) === last ? error : new Overtaken()
      },
    )
    const head = await openHead(note, signer.vkey)
    const after = changedState(state, { head: head.note })
    this.progress = { ...this.progress, signed: head }
    const addition = { before: state, after, rows: [], nodes: [], statements: [], late: [] }
    if (!(await ledger.append(addition, this.#options))) throw new Overtaken()
    this.progress = { ...this.progress, state: after }
  }

  /**
   * Keeps the nodes at the end of the signed tree, so that this head can still be compared with later ones when the rows of these leaves
   * are gone.
   */
  async keepHead(): Promise<void> {
    const { state, edge } = this.progress
    const nodes = edgePlaces(edge.size)
      .filter(({ level }) => level < ROW_LEVEL)
      .map((place) => ({ ...place, hash: edge.nodes.get(place.level)! }))
    const addition = { before: state, after: state, rows: [], nodes, statements: [], late: [] }
    if (nodes.length > 0 && !(await this.ledger.append(addition, this.#options)))
      throw new Overtaken()
  }
}

/** Time of the newest event. If the store cannot tell it, the ledger begins after the newest event at its first round. */
async function readNewest(store: EventStore): Promise<Microseconds> {
  const token = await store.consistencyToken?.().catch(() => undefined)
  return parseToken(token)?.time ?? Infinity
}

/** Time of the newest event before this process has stored any. */
async function readStart(store: EventStore): Promise<Microseconds> {
  const newest = await readNewest(store)
  return Math.min(newest, store.highWaterAtStart?.() ?? Infinity)
}

/** Knowledge of a process from one round to the next. */
interface Known {
  progress: Progress | undefined
  signed: Head | undefined
  waitedTo: Microseconds
}

/** True if there is nothing to seal and to sign. Forgets the progress if another process has changed the ledger. */
async function isIdle(ledger: LedgerStore, known: Known, options: WaitOptions): Promise<boolean> {
  const { progress } = known
  if (!progress || progress.signed?.size !== progress.state.size) return false
  const found = await ledger.state(options)
  if (found && isSameState(found, progress.state))
    return (await ledger.waiting(options)).events === 0
  known.progress = undefined
  return false
}

/** Seals and signs what is visible. Resolves to false if another process has the lease. */
async function sealOnce(
  context: SealerContext & {
    readonly lease: Lease
    readonly start: Promise<Microseconds>
    /** Done after everything is sealed and signed, and then signed. */
    readonly act: Act | undefined
    /** True for a round at an interval, which may leave something. */
    readonly isTimed: boolean
  },
  known: Known,
  options: WaitOptions,
): Promise<boolean> {
  const { ledger, lease, act, isTimed } = context
  const signer = boundSigner(context.signer, options)
  if (!act && (await isIdle(ledger, known, options))) return true
  if (!(await lease.take(options))) {
    known.progress = undefined
    return false
  }
  const begin = { known: known.signed, start: await context.start }
  known.progress ??= await loadProgress(ledger, signer, begin, options)
  const round = new Round({ ...context, signer }, known.progress, known.waitedTo, options)
  try {
    await round.begin()
    let signedAt = performance.now()
    for (let [isMore, batches] = [true, 0]; isMore; batches++) {
      throwIfAborted(options.signal)
      if (isTimed && batches >= MAX_BATCHES && !round.isFarBehind()) break
      await round.holdLease()
      isMore = (await round.sealLate()) || (await round.sealNext())
      // A long backlog is signed in parts.
      if (performance.now() - signedAt < EVERY_MS) continue
      await round.sign()
      signedAt = performance.now()
    }
    await round.sign()
    if (act) {
      await act(round)
      await round.sign()
    }
  } finally {
    known.progress = round.progress
    known.signed = round.progress.signed
    known.waitedTo = round.waitedTo
  }
  return true
}

/** Replaces the ledger. See `Sealer.restart`. */
async function restartLedger(
  context: SealerContext & { readonly lease: Lease },
  known: Known,
  { before, newest, size, reason }: Restart,
  options: WaitOptions,
): Promise<void> {
  const { store, ledger, lease } = context
  const signer = boundSigner(context.signer, options)
  if (!(await lease.take(options))) throw anotherSeals()
  const begun = await ledger.restart(before, await readNewest(store), options)
  if (!begun) throw changedMeanwhile()
  const fresh = { ...begun, edge: EMPTY, tail: undefined, signed: undefined }
  const round = new Round({ ...context, signer }, fresh, known.waitedTo, options)
  await round.begin([{ kind: 'continues', note: newest, size, reason }])
  await round.sign()
  known.progress = round.progress
  known.signed = round.progress.signed
}

/** Does work of an operator at most once, also if the round before it is repeated. */
function once(act: Act): { readonly act: Act; readonly isBegun: () => boolean } {
  let isBegun = false
  return {
    async act(round) {
      isBegun = true
      await act(round)
    },
    isBegun: () => isBegun,
  }
}

/** Ends the work of a process. The next process seals what is left. */
async function withinClosing(
  closing: AbortController,
  end: (options: WaitOptions) => Promise<void>,
): Promise<void> {
  const timer = setTimeout(() => closing.abort(), CLOSE_MS)
  try {
    await end({ signal: closing.signal })
  } catch {
    // The next process seals the rest.
  } finally {
    clearTimeout(timer)
  }
}

/** Errors that a ledger causes which changes while it is read. */
const CHANGED: ReadonlySet<string> = new Set(['LEDGER_DIVERGED', 'DAMAGED'])

const codeOf = (failure: unknown): string => (failure instanceof AuditLogError ? failure.code : '')

/** True if the round is worth repeating at once: another process has sealed, maybe between two reads of this one. */
const isPassing = (failure: unknown, isRepeated: boolean): boolean =>
  failure instanceof Overtaken || (!isRepeated && CHANGED.has(codeOf(failure)))

/** The error of work. If the ledger has diverged, the next round finds that. */
const errorOfWork = (failure: unknown): unknown =>
  failure instanceof Overtaken || codeOf(failure) === 'LEDGER_DIVERGED'
    ? changedMeanwhile()
    : failure

const asLedgerFailure = (failure: unknown): AuditLogError =>
  failure instanceof AuditLogError
    ? failure
    : new AuditLogError('STORE_FAILED', `the ledger failed: ${String(failure)}`, { cause: failure })

type Condition = Pick<Sealer, 'state' | 'error'>

function conditionAfter(failure: unknown): Condition {
  const error = asLedgerFailure(failure)
  return { state: error.code === 'LEDGER_DIVERGED' ? 'diverged' : 'failed', error }
}

function untilBoth(closing: AbortSignal, { signal }: WaitOptions = {}): WaitOptions {
  throwIfAborted(signal)
  return { signal: signal ? AbortSignal.any([closing, signal]) : closing }
}

interface SealingWork {
  /** Work of an operator. It is repeated unless `isBegun` returns true. */
  readonly work?: { readonly act: Act; readonly isBegun?: () => boolean }
  /** True for a round at an interval. */
  readonly isTimed?: boolean
}

/** Attempts to seal. They note their result in `condition`. */
function createAttempts(context: SealerContext & { readonly lease: Lease }, known: Known) {
  // Asked for before this process stores anything.
  const start = readStart(context.store)
  let condition: Condition = { state: 'standby', error: undefined }

  const seal = async (
    options: WaitOptions,
    { work, isTimed = false }: SealingWork = {},
  ): Promise<boolean> => {
    let isRepeated = false
    const given = { ...context, start, act: work?.act, isTimed }
    for (;;)
      try {
        const isOurs = await sealOnce(given, known, options)
        condition = { state: isOurs ? 'sealing' : 'standby', error: undefined }
        return isOurs
      } catch (failure) {
        known.progress = undefined
        // An error of the work says nothing about sealing.
        if (work?.isBegun?.()) throw errorOfWork(failure)
        if (isPassing(failure, isRepeated)) {
          isRepeated ||= !(failure instanceof Overtaken)
          continue
        }
        if (options.signal?.aborted) throw failure
        condition = conditionAfter(failure)
        throw condition.error
      }
  }
  const restart = async (given: Restart, options: WaitOptions): Promise<void> => {
    await restartLedger(context, known, given, options)
    condition = { state: 'sealing', error: undefined }
  }
  return { seal, restart, condition: (): Condition => condition }
}

/** Seals the events of a store once a second, while this process has the lease. Keeps no process alive. */
export function createSealer(context: SealerContext): Sealer {
  const lease = leaseOf(context.store)
  const closing = new AbortController()
  const known: Known = { progress: undefined, signed: undefined, waitedTo: -Infinity }
  const { seal, restart, condition } = createAttempts({ ...context, lease }, known)
  const queue = createQueue()
  const queued = (options: WaitOptions): Promise<boolean> => queue(() => seal(options))
  const inTurn = <Result>({ signal }: WaitOptions, work: () => Promise<Result>): Promise<Result> =>
    untilAborted(queue(work), signal)
  const untilClosing = (given?: WaitOptions): WaitOptions => untilBoth(closing.signal, given)

  const stop = startSealing(context.background, {
    // The error is in the status.
    seal: () => queue(() => seal({ signal: closing.signal }, { isTimed: true })).catch(() => {}),
    release: async () => {
      await queued({ signal: closing.signal }).catch(() => {})
      await lease.release({ signal: closing.signal })
    },
  })

  return {
    get state() {
      return condition().state
    },
    get error() {
      return condition().error
    },
    get signed() {
      return known.signed
    },
    async seal(given) {
      const options = untilClosing(given)
      return inTurn(options, () => seal(options))
    },
    async keepHead(given) {
      const options = untilClosing(given)
      const keep = async (round: Round): Promise<void> => round.keepHead()
      return inTurn(options, () => seal(options, { work: { act: keep } }))
    },
    async run<Result>(act: (round: Round) => Promise<Result>, given?: WaitOptions) {
      const options = untilClosing(given)
      const results: Result[] = []
      const work = async (round: Round) => void results.push(await act(round))
      if (!(await inTurn(options, () => seal(options, { work: once(work) })))) throw anotherSeals()
      return results[0]!
    },
    async restart(given, waiting) {
      const options = untilClosing(waiting)
      await inTurn(options, () => restart(given, options))
    },
    close: () =>
      withinClosing(closing, async (options) => {
        await stop()
        try {
          await queued(options)
        } finally {
          await lease.release(options)
        }
      }),
  }
}
