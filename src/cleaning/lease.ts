import { randomUUID } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import { createIntervalLoop } from '../async/loops.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import { TIMES } from '../coordination/times.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { Microseconds } from '../event/timestamp.js'
import {
  changeState,
  isHeld,
  type LastRun,
  type LeasedRun,
  nextRunTime,
  type RuleState,
} from './rule-state.js'
import type { Schedule } from './schedule.js'

/** The right to run a rule. Only one process at a time has it. */
export interface Lease {
  readonly startedAt: Microseconds
  /** Aborts when another process has taken the lease. */
  readonly signal: AbortSignal
  /** The previous run, if it did not end because its process died or lost the store. */
  readonly unfinished: LeasedRun | undefined
  /**
   * Ends the lease, and stores the result of the run. After an aborted run the rule is still due.
   * Rejects if the store does not answer within 10 seconds; then the lease expires.
   */
  release(run: FinishedRun): Promise<void>
}

export interface FinishedRun {
  readonly removedCount: number
  readonly error?: string | undefined
  readonly isAborted?: boolean | undefined
}

/** Result of `claimLease`. `held`: another process has the lease. `early`: the rule is not due yet. */
export type Claim =
  | { readonly outcome: 'granted'; readonly lease: Lease }
  | { readonly outcome: 'held' }
  | { readonly outcome: 'early'; readonly dueIn: Microseconds }

export interface ClaimOptions extends WaitOptions {
  /** If given, the lease is granted only when the rule is due. */
  readonly schedule?: Schedule | undefined
  /** The number of events removed so far; stored at each renewal. */
  readonly removedCount: () => number
}

const { everyMs, timeoutMs } = TIMES.cleaning

/**
 * Claims the lease of the rule. The lease is renewed every 10 seconds until it is released. If its process dies, it
 * expires within 30 seconds.
 */
export async function claimLease(
  store: EventStore,
  name: string,
  { schedule, removedCount, signal }: ClaimOptions,
): Promise<Claim> {
  const holder = randomUUID()
  let refusal: Claim | undefined
  let startedAt: Microseconds = 0
  let unfinished: LeasedRun | undefined
  const take = (state: RuleState, now: Microseconds): RuleState => {
    refusal = undefined
    const { lease, from = now } = state
    // The answer to an earlier attempt may have been lost.
    if (lease?.holder === holder) return state
    if (isHeld(lease, now)) {
      refusal = { outcome: 'held' }
      return state
    }
    const due = schedule ? nextRunTime(state, schedule, now) : now
    if (due > now) {
      refusal = { outcome: 'early', dueIn: due - now }
      // The schedule counts from when the rule was first seen; after the clock was set back, from now.
      return { ...state, from: Math.min(from, now) }
    }
    startedAt = now
    unfinished = lease
    return { ...state, lease: leaseOf(holder, now, now, 0) }
  }
  await changeState(store, name, take, { signal })
  if (refusal) return refusal

  const renewal = startRenewal(store, name, holder, removedCount)
  const lease: Lease = {
    startedAt,
    signal: renewal.lost,
    unfinished,
    async release({ removedCount, error, isAborted }) {
      await renewal.stop()
      const end = (state: RuleState, now: Microseconds): RuleState => {
        if (state.lease?.holder !== holder) return state
        const finishedAt = Math.max(startedAt, now)
        const last: LastRun = { startedAt, finishedAt, removedCount, error }
        const from = isAborted ? state.from : startedAt
        return { ...(from !== undefined && { from }), last }
      }
      using wait = timeoutSignal(everyMs)
      await changeState(store, name, end, { signal: wait.signal })
    },
  }
  return { outcome: 'granted', lease }
}

function leaseOf(
  holder: string,
  startedAt: Microseconds,
  now: Microseconds,
  removedCount: number,
): LeasedRun {
  return { holder, startedAt, expiresAt: now + timeoutMs * 1000, removedCount }
}

/** `lost` aborts when another process may have the lease. */
function startRenewal(
  store: EventStore,
  name: string,
  holder: string,
  removedCount: () => number,
): { readonly lost: AbortSignal; stop(): Promise<void> } {
  const lost = new AbortController()
  let renewedAt = performance.now()
  const renew = async (): Promise<void> => {
    const since = performance.now()
    let isOurs = false
    const extend = (state: RuleState, now: Microseconds): RuleState => {
      isOurs = state.lease?.holder === holder
      if (!isOurs) return state
      return { ...state, lease: leaseOf(holder, state.lease!.startedAt, now, removedCount()) }
    }
    using wait = timeoutSignal(everyMs)
    try {
      await changeState(store, name, extend, { signal: wait.signal })
      renewedAt = since
    } catch {
      // No other process gets the lease before it expires.
      isOurs = performance.now() - renewedAt < timeoutMs
    }
    if (!isOurs) {
      const message = `cleaning rule ${name}: another process has taken the lease`
      lost.abort(new AuditLogError('STORE_FAILED', message))
    }
  }
  const loop = createIntervalLoop(renew, everyMs)
  loop.start()
  return { lost: lost.signal, stop: loop.stop }
}
