/* Names and types that the processes of the campaign `exports` share. */

export const EXPORT_NAMES = ['ndjson', 'ndjson.gz', 'parquet'] as const
export type ExportName = (typeof EXPORT_NAMES)[number]

/** The numbers of events after which the memory is measured. */
export const MARKS = [200_000, 1_000_000]

export interface ExportFigures {
  readonly events: number
  readonly seconds: number
  /** Processor time of all threads. */
  readonly cpuSeconds: number
  /** Bytes of the process in memory at each of the marks that the log reaches. */
  readonly rss: readonly number[]
  /** The most bytes of the process in memory. */
  readonly peak: number
  /** The most pages of events in memory at once, with `--expose-gc`, otherwise 0. */
  readonly livePages: number
}
