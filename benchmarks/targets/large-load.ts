/* Calls of a process at constant rates, and cleaning by another one. */

export interface Setup {
  readonly url: string
  /** Days of the events that stay, and the archive's directory; without one the process records and lists. */
  readonly cleaning?: { readonly days: number; readonly directory?: string }
}

/** Milliseconds from the moment when a call was due to its result. */
export interface Delays {
  readonly calls: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Number of calls that took longer than these milliseconds. */
  readonly over: number
}

export interface Answer {
  readonly record: Delays
  readonly list: Delays
}

export interface Cleaned {
  readonly seconds: number
  readonly removed: number
  readonly archived: number
  readonly error: string | undefined
}

export const MAX_DELAY_MS = 50
