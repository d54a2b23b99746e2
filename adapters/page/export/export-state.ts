import { signal } from '@preact/signals'
import type { ExportFormat } from './records.js'

/** An export that runs, or has ended. */
export interface ExportRun {
  readonly format: ExportFormat
  /** Events that are written. */
  readonly count: number
  /** How many there will be; `undefined` until the server says. */
  readonly total: number | undefined
  /** The server has only estimated the total. */
  readonly isEstimate: boolean
  /** `full`: the browser has no room for more. `refused`: nothing came. */
  readonly state: 'running' | 'done' | 'stopped' | 'lost' | 'full' | 'refused'
}

/** The latest export: it goes on while the reader works. */
export const exportRun = signal<ExportRun | undefined>(undefined)
