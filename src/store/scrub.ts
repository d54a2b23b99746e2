import type { WaitOptions } from './wait-options.js'

/** Progress of `EventStore.scrub`. */
export interface ScrubProgress {
  /**
   * The current step: values beside the events, such as throttles; the index; compressed events; the statistics of the query
   * planner; the files.
   */
  readonly step: 'values' | 'index' | 'compression' | 'statistics' | 'files'
  /** Events or tables that are done in this step. */
  readonly done: number
  /** Number of events or tables of the step; `undefined` if they are not counted first. */
  readonly total: number | undefined
}

export interface ScrubOptions extends WaitOptions {
  readonly onProgress?: ((progress: ScrubProgress) => void) | undefined
}

/** The result of `EventStore.scrub`. */
export interface Scrubbed {
  /** Where values of removed events may still be, and what removes them there: sentences in English. Empty if nothing remains. */
  readonly remaining: readonly string[]
}
