import { signal } from '@preact/signals'
import type { ExportFormat } from './records.js'

/** A running or finished export. */
export interface ExportRun {
  readonly format: ExportFormat
  /** The number of whole records written. Each is an event. */
  readonly count: number
  readonly bytes: number
  /** The expected number of events; `undefined` until the server reports it. */
  readonly total: number | undefined
  /** True if the total is exact; otherwise it is a lower bound. */
  readonly isExact: boolean
  /**
   * `lost`: the connection broke. `full`: no storage left. `unavailable`: the service lacks a package for the format.
   * `refused`: another error response.
   */
  readonly state: 'running' | 'done' | 'stopped' | 'lost' | 'full' | 'unavailable' | 'refused'
}

/** The latest export; it runs in the background. */
export const exportRun = signal<ExportRun | undefined>(undefined)

/** The percentage of events written, for formats with records. The count may exceed a total that is a lower bound. */
export const percentOf = ({ count, total }: ExportRun): number =>
  total ? Math.min(100, Math.round((count / total) * 100)) : 0
