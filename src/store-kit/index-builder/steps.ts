import { randomUUID } from 'node:crypto'
import { throwIfAborted } from '../../errors.js'

/** Runs the index builder in short steps between which other work gets its turn. */
export interface StepRunner {
  /** Runs one short transaction, then rests. */
  run<Result>(transact: () => Promise<Result>): Promise<Result>
  /** Starts one short transaction, beside which the work goes on. The first rest after its end is for it too. */
  start<Result>(transact: () => Promise<Result>): Promise<Result>
  /** True once computing since the last rest has taken a time slice. */
  isSliceOver(): boolean
  /** Rests after computing. */
  pause(): Promise<void>
  /** Multiplies the rests that follow; with 0 they last for one turn of the event loop. */
  setRestFactor(factor: number): void
}

/** Times of the work since the last rest. */
export interface StepTimes {
  readonly computeMs: number
  /** Duration of the transactions that have ended, 0 without any. */
  readonly transactionMs: number
  readonly restFactor: number
}

/** Decides how long the index builder rests, so that writers are not held up. */
export interface Pacer {
  rest(times: StepTimes): Promise<void>
}

/**
 * Only the process with the lease builds the index, so that no two do the same work. The index is
 * correct without it, because each change checks that its assumptions still hold.
 */
export interface Lease {
  /** Takes or renews the lease for `ms` milliseconds; false if another holder has it. */
  take(holder: string, ms: number): Promise<boolean>
  /** Does nothing if another holder has it. */
  release(holder: string): Promise<void>
}

export interface StepOptions {
  readonly lease: Lease
  /** A process that dies keeps the lease for at most this long. */
  readonly leaseMs: number
  readonly pacer: Pacer
  /** Rejects the next step with `ABORTED`. */
  readonly signal: AbortSignal
  readonly afterRest: () => Promise<void>
}

export interface LeasedSteps extends StepRunner {
  /** Takes the lease, or renews it if it is time to. Throws `LEASE_LOST` if another process has it. */
  keepLease(): Promise<void>
  releaseLease(): Promise<void>
}

/** Thrown when another process has the lease. */
export const LEASE_LOST = Symbol('lease lost')

/** Renewals in each lease period, so that a slow step takes no longer than the rest of the period. */
const RENEWALS = 4

/** Computing for this long is hardly noticed by other work of the thread. */
const SLICE_MS = 4
/** With rest factor 0 a slice may be as long as other work has just taken, but no longer than this. */
const MAX_SLICE_MS = 20

export function createSteps(options: StepOptions): LeasedSteps {
  const { lease, leaseMs, pacer, signal, afterRest } = options
  const holder = randomUUID()
  let renewAt = -Infinity
  let restedAt = performance.now()
  let restFactor = 1
  let sliceMs = SLICE_MS
  /** Duration of the transactions that have ended since the last rest. */
  let transactionMs = 0

  const keepLease = async (): Promise<void> => {
    const now = performance.now()
    if (now < renewAt) return
    if (!(await lease.take(holder, leaseMs))) throw LEASE_LOST
    renewAt = now + leaseMs / RENEWALS
  }

  const perform = async <Result>(transact: () => Promise<Result>): Promise<Result> => {
    throwIfAborted(signal)
    await keepLease()
    const start = performance.now()
    const result = await transact()
    transactionMs += performance.now() - start
    return result
  }

  const rest = async (computeMs: number): Promise<void> => {
    const start = performance.now()
    const times = { computeMs, transactionMs, restFactor }
    transactionMs = 0
    await pacer.rest(times)
    restedAt = performance.now()
    const othersMs = restedAt - start
    sliceMs = restFactor > 0 ? SLICE_MS : Math.min(MAX_SLICE_MS, Math.max(SLICE_MS, othersMs))
    await afterRest()
  }

  return {
    keepLease,
    async run(transact) {
      const computeMs = performance.now() - restedAt
      const result = await perform(transact)
      await rest(computeMs)
      return result
    },
    start: perform,
    isSliceOver: () => performance.now() - restedAt >= sliceMs,
    async pause() {
      throwIfAborted(signal)
      const computeMs = performance.now() - restedAt
      await keepLease()
      await rest(computeMs)
    },
    setRestFactor: (factor) => void (restFactor = factor),
    async releaseLease() {
      // If releasing fails, the lease expires.
      if (renewAt > -Infinity) await lease.release(holder).catch(() => {})
    },
  }
}
