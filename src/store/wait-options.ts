import type { OptionNames } from '../options.js'

/** A call that waits rejects with `ABORTED` when the signal aborts. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
}

export const WAIT_OPTIONS: OptionNames<WaitOptions> = { signal: true }
