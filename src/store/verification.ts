import type { Damage } from './damage.js'
import type { OptionNames } from '../options.js'

/** Progress of a verification. */
export interface VerifyProgress {
  /** The current step: first the events, then the segments of the index, then the file itself. */
  readonly step: 'events' | 'index' | 'file'
  /** Events, segments or tables that were read in this step. */
  readonly done: number
  /** Number of segments or tables of the step; `undefined` for events, which are not counted first. */
  readonly total: number | undefined
}

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
}

export const VERIFY_OPTIONS: OptionNames<VerifyOptions> = { signal: true, onProgress: true }

/** Progress of building an index. */
export interface RebuildProgress {
  /** Events that the new index has. */
  readonly done: number
  /** Events that it will have. */
  readonly total: number
}

export interface RebuildOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined
}

export const REBUILD_OPTIONS: OptionNames<RebuildOptions> = { signal: true, onProgress: true }

/** The result of a verification. */
export interface Verification {
  /** Number of events that were read. */
  readonly events: number
  /** Number of segments of the index that were read. */
  readonly segments: number
  /** The damaged places; empty if no damage was found. */
  readonly damage: readonly Damage[]
}
