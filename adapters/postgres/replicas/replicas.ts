import { type Backoff, randomBackoffMs } from '../../../src/async/backoff.js'
import type { PostgresPool } from '../connection/client.js'

/** A server that is only read from. */
export interface Replica {
  /** For messages: without a password. */
  readonly name: string
  readonly pool: PostgresPool
}

/** How a replica has answered. */
export type ReplicaOutcome =
  | 'answered'
  /** It lacks what this read needs, or has cancelled it for its recovery. */
  | 'behind'
  /** It is further behind the primary than `maxLag` allows. */
  | 'late'
  /** It did not answer, or cannot be reached. */
  | 'failed'

/** A replica and its state, as this process knows it. */
export interface ReplicaState extends Replica {
  /** Counts from 1. */
  readonly number: number
  /** Reads under way. */
  reads: number
  /** Failed or late answers since the last answer that was neither. */
  misses: number
  /** The replica is not asked before this time, on the scale of `performance.now()`. */
  skippedUntil: number
  /** Why it is not asked. */
  reason: string | undefined
}

/** The replicas of a log. */
export interface Replicas {
  readonly all: readonly ReplicaState[]
  /** The replicas to ask, the best first. With `isUrgent`, also those that are skipped at present. */
  choose(isUrgent: boolean): readonly ReplicaState[]
  note(replica: ReplicaState, outcome: ReplicaOutcome, reason?: string): void
}

/** How long a replica is skipped after misses in a row. */
const SKIPS: Readonly<Record<'late' | 'failed', Backoff>> = {
  late: { firstMs: 100, maxMs: 5000 },
  failed: { firstMs: 250, maxMs: 30_000 },
}

export function createReplicas(replicas: readonly Replica[]): Replicas {
  const all = replicas.map((replica, i): ReplicaState => ({
    ...replica,
    number: i + 1,
    reads: 0,
    misses: 0,
    skippedUntil: 0,
    reason: undefined,
  }))
  let turn = 0

  const miss = (replica: ReplicaState, outcome: 'late' | 'failed', reason?: string): void => {
    replica.skippedUntil = performance.now() + randomBackoffMs(replica.misses, SKIPS[outcome])
    replica.misses += 1
    replica.reason = reason
  }

  return {
    all,
    choose(isUrgent) {
      turn += 1
      const now = performance.now()
      const sound = all.filter(({ skippedUntil }) => isUrgent || skippedUntil <= now)
      const first = turn % Math.max(sound.length, 1)
      // In turn, but one that has fewer reads under way comes first.
      return [...sound.slice(first), ...sound.slice(0, first)].toSorted((a, b) => a.reads - b.reads)
    },
    note(replica, outcome, reason) {
      if (outcome === 'late' || outcome === 'failed') miss(replica, outcome, reason)
      else if (outcome === 'answered') {
        replica.misses = 0
        replica.skippedUntil = 0
        replica.reason = undefined
      }
    },
  }
}
