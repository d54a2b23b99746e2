/**
 * Times in milliseconds: the interval at which a process renews a heartbeat or a lease, and the time after the last
 * renewal at which another process takes over.
 */
export interface Times {
  readonly everyMs: number
  readonly timeoutMs: number
}

export const TIMES = {
  /** The heartbeats of open live events, and of processes with intents. */
  work: { everyMs: 5000, timeoutMs: 20_000 },
  /** The heartbeats of processes that deliver to channels. A process without them delivers nothing. */
  delivery: { everyMs: 2000, timeoutMs: 6000 },
  /** The lease of a cleaning rule. */
  cleaning: { everyMs: 10_000, timeoutMs: 30_000 },
  /** The lease of the process that seals events in the ledger. */
  ledger: { everyMs: 5000, timeoutMs: 20_000 },
} as const satisfies Readonly<Record<string, Times>>

/** Duration of the lease of the index in milliseconds. It is renewed between steps, four times in this period. */
export const INDEX_LEASE_MS = 10_000
