import { sampleEvents } from '../harness/sample-events.js'

/* The tasks of the processes that write to Postgres. */

/** The writers, each with the table that it writes to. */
export const TABLES = {
  /** `record` of the store. */
  record: 'daybook.events',
  /** INSERT of many rows into the store's table with its indexes. */
  insert: 'plain.events',
  /** INSERT and COPY into a table of time and JSON without indexes. */
  bare: 'bare',
  copy: 'bare',
  /** INSERT of many rows into a table of jsonb. */
  jsonb: 'plain_jsonb',
  /** Peers. */
  emmett: 'emt_messages',
  'pg-boss': 'pgboss.job',
} as const

export type WriterName = keyof typeof TABLES

/** Schemas that the store creates. */
export const STORE_SCHEMAS = ['samples', 'daybook', 'plain'] as const

/** The maximum number of concurrent writers. */
const MAX_PROCESSES = 32

export interface Task {
  readonly writer: WriterName
  /** Events per call; always one for `record`. */
  readonly batch: number
  /** The number of this process among the concurrent ones. */
  readonly processNumber: number
}

export interface Writer {
  /** `caller` is the number of the concurrent caller, from 0. */
  call(caller: number): Promise<unknown>
  close(): Promise<void>
}

/** Writers use these over and over. */
export const EVENTS = sampleEvents(5000)
export const QUEUE = 'events'

/**
 * Returns the first time of a range of `batch` microseconds. No two calls and no two processes get
 * overlapping ranges.
 */
export function createTimeRanges({ processNumber, batch }: Task): () => number {
  const period = MAX_PROCESSES * batch
  let last = 0
  return () => {
    last = Math.max(last + period, Math.floor((Date.now() * 1000) / period) * period)
    return last + processNumber * batch
  }
}
