/** How often background work runs and how long work waits, in milliseconds. */
export const TIMINGS = {
  /** Writes are retried for this time while the database is busy. */
  write: 5000,
  /** After this time without the database, the transition of a step is given up. */
  transition: 600,
  /** And after this time, so is moving the step to `system_error`. */
  systemError: 30_000,
  refresh: 250,
  takeOver: 2000,
  schedule: 250,
  /** How often due jobs are looked for, and the time between two runs of a job. */
  jobCheck: 5000,
  jobInterval: 60_000,
  /** A job that cannot be re-queued within this time waits for the next check. */
  jobClaim: 200,
  ldapRefresh: 300_000,
  gitFetch: 60_000,
  followRevisions: 60_000,
  autoscaler: 1000,
  gitSummary: 86_400_000,
  /** Work that waits for a slot looks for one at least this often. */
  slotPoll: 1000,
  /** How often the vault and the site check their configuration. */
  configuration: 1000,
}

export type Timings = Readonly<typeof TIMINGS>
