/**
 * How often a process renews a heartbeat or a lease, and after which time without that another process takes over, in
 * milliseconds.
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
} as const satisfies Readonly<Record<string, Times>>

/** How long the lease of the index lasts, in milliseconds. It is renewed between steps, four times in this time. */
export const INDEX_LEASE_MS = 10_000
