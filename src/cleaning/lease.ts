import { randomUUID } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { Microseconds } from '../event/timestamp.js'
import {
  changeState,
  isHeld,
  type LastRun,
  LEASE_MS,
  type LeasedRun,
  nextTurn,
  type RuleState,
} from './rule-state.js'
import type { Schedule } from './schedule.js'

/** The right to run a rule, which one process has at a time. */
export interface Lease {
  readonly startedAt: Microseconds
  /** Aborts when the lease is lost to another. */
  readonly signal: AbortSignal
  /** The run before where it never came to its end: its process died, or lost the store. */
  readonly unfinished: LeasedRun | undefined
  /**
   * Ends the lease, and notes what became of the run. One that was given up was not the rule's turn.
   * Rejects where the store does not take it within a while: the lease ends by itself then.
   */
  release(run: FinishedRun): Promise<void>
}

export interface FinishedRun {
  readonly removedCount: number
  readonly error?: string | undefined
  readonly isGivenUp?: boolean | undefined
}

/** How a try to get the lease ends. */
export type Claim =
  | { readonly outcome: 'granted'; readonly lease: Lease }
  | { readonly outcome: 'held' }
  | { readonly outcome: 'early'; readonly dueIn: Microseconds }

export interface ClaimOptions extends WaitOptions {
  /** Given where the lease is wanted only when the rule's turn has come. */
  readonly schedule?: Schedule | undefined
  /** Asked at each renewal how many have been removed so far. */
  readonly removedCount: () => number
}

const RENEWAL_MS = 10_000

/**
 * Tries to get the lease of the rule. It is renewed until it is released; where its process dies it
 * ends by itself within 30 seconds.
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
    // The answer to a first attempt may have been lost.
    if (lease?.holder === holder) return state
    if (isHeld(lease, now)) {
      refusal = { outcome: 'held' }
      return state
    }
    const due = schedule ? nextTurn(state, schedule, now) : now
    if (due > now) {
      refusal = { outcome: 'early', dueIn: due - now }
      // Turns are counted from when the rule was first seen, and from no time that has not come yet.
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
    async release({ removedCount, error, isGivenUp }) {
      await renewal.stop()
      const end = (state: RuleState, now: Microseconds): RuleState => {
        if (state.lease?.holder !== holder) return state
        const finishedAt = Math.max(startedAt, now)
        const last: LastRun = { startedAt, finishedAt, removedCount, error }
        const from = isGivenUp ? state.from : startedAt
        return { ...(from !== undefined && { from }), last }
      }
      using wait = timeoutSignal(RENEWAL_MS)
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
  return { holder, startedAt, expiresAt: now + LEASE_MS * 1000, removedCount }
}

interface Renewal {
  readonly lost: AbortSignal
  stop(): Promise<void>
}

function startRenewal(
  store: EventStore,
  name: string,
  holder: string,
  removedCount: () => number,
): Renewal {
  const lost = new AbortController()
  let renewing: Promise<void> | undefined
  let renewedAt = performance.now()
  const renew = async (): Promise<void> => {
    const since = performance.now()
    let isOurs = false
    const prolong = (state: RuleState, now: Microseconds): RuleState => {
      isOurs = state.lease?.holder === holder
      if (!isOurs) return state
      return { ...state, lease: leaseOf(holder, state.lease!.startedAt, now, removedCount()) }
    }
    using wait = timeoutSignal(RENEWAL_MS)
    try {
      await changeState(store, name, prolong, { signal: wait.signal })
      renewedAt = since
    } catch {
      // Nobody else gets it before it has run out.
      isOurs = performance.now() - renewedAt < LEASE_MS
    }
    if (!isOurs) {
      const message = `cleaning rule ${name}: another process has taken over`
      lost.abort(new AuditLogError('STORE_FAILED', message))
    }
  }
  const timer = setInterval(() => {
    renewing ??= renew().finally(() => (renewing = undefined))
  }, RENEWAL_MS)
  timer.unref()
  return {
    lost: lost.signal,
    async stop() {
      clearInterval(timer)
      await renewing
    },
  }
}
