/** One fact about a log's surroundings that was checked. */
export interface Checkup {
  /** What was checked: `disk`, `fsync`. */
  readonly name: string
  /** `warn`: works, but is slow or will not last. `fail`: does not work, or loses events. */
  readonly status: 'pass' | 'warn' | 'fail'
  /** What was found, in one sentence. */
  readonly found: string
  /** What to do, unless it has passed. */
  readonly remedy?: string | undefined
}
