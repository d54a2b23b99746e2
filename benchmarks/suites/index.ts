import {
  fileName,
  folderName,
  oneOf,
  type Options,
  positiveNumber,
  type Size,
  type Values,
  wholeNumber,
  wholeNumbers,
} from '../harness/options.js'
import type { Row, Section } from '../harness/results.js'

/* The suites. They are loaded when they run, as they need the built package. */

interface Described<Of extends Options> {
  readonly summary: string
  readonly options: Of
  /** Needs the packages of `benchmarks/peers`. */
  readonly needsPeers?: boolean
  /** Takes minutes with any options, or has goals only for a million events, so that it is not part of a quick run. */
  readonly isLong?: boolean
}

/** A suite whose figures have goals; all of them together make the report. */
export interface GoalSuite<Of extends Options = Options> extends Described<Of> {
  readonly kind: 'goals'
  load(): Promise<{ measure(values: Values<Of>, folder: string): Promise<Row[]> }>
}

/** A suite that has its own sections in results.md. */
export interface SectionSuite<Of extends Options = Options> extends Described<Of> {
  readonly kind: 'sections'
  load(): Promise<{ measure(values: Values<Of>): Promise<Section[]> }>
}

export type Suite = GoalSuite | SectionSuite

/** Checks that the module takes the options, and forgets their types. */
const goals = <Of extends Options>(suite: Omit<GoalSuite<Of>, 'kind'>): Suite =>
  ({ ...suite, kind: 'goals' }) as unknown as GoalSuite
const sections = <Of extends Options>(suite: Omit<SectionSuite<Of>, 'kind'>): Suite =>
  ({ ...suite, kind: 'sections' }) as unknown as SectionSuite

const timed = (rounds: number, seconds: number) => ({
  rounds: wholeNumber(rounds, 'rounds'),
  seconds: positiveNumber(seconds, 'measured seconds of a trial'),
})
const sizeOption = (...sizes: readonly Size[]) => oneOf(sizes, '1m', 'events in the log')

export const SUITES: Readonly<Record<string, Suite>> = {
  ingest: goals({
    summary: 'record() on SQLite, compared with raw rows and with other libraries',
    options: timed(3, 2),
    needsPeers: true,
    load: () => import('./ingest.js'),
  }),
  sustained: goals({
    summary: 'record() on SQLite while the index keeps up, and the size of the file',
    options: { size: sizeOption('10k', '100k', '1m') },
    load: () => import('./sustained.js'),
  }),
  queries: goals({
    summary: 'queries on SQLite, compared with handwritten SQL; growth; a cold file',
    options: {
      size: sizeOption('10k', '100k', '1m'),
      rounds: wholeNumber(3, 'rounds'),
    },
    load: () => import('./queries.js'),
  }),
  counts: goals({
    summary: 'totals, levels over time and facets on SQLite',
    options: {
      size: sizeOption('10k', '100k', '1m'),
      rounds: wholeNumber(3, 'rounds'),
    },
    load: () => import('./counts.js'),
  }),
  'free-text': goals({
    summary: 'searches of all texts on SQLite',
    options: {
      size: sizeOption('10k', '100k', '1m'),
      rounds: wholeNumber(3, 'rounds'),
    },
    load: () => import('./free-text.js'),
  }),
  memory: goals({
    summary: 'queries on the memory store, compared with sift and mingo. Not part of --quick',
    isLong: true,
    options: { size: sizeOption('10k', '100k', '1m'), rounds: wholeNumber(3, 'rounds') },
    load: () => import('./memory.js'),
  }),
  'postgres-queries': goals({
    summary: 'queries and record() on Postgres, compared with a table of jsonb and with peers',
    options: { size: sizeOption('10k', '100k', '1m'), ...timed(3, 2) },
    needsPeers: true,
    load: () => import('./postgres-queries.js'),
  }),
  'postgres-record': goals({
    summary:
      'record() on Postgres, compared with INSERT and peers; how far the index falls behind. Not part of --quick',
    options: timed(3, 2),
    needsPeers: true,
    isLong: true,
    load: () => import('./postgres-goals.js'),
  }),
  http: goals({
    summary: 'GET /api/events on SQLite, compared with static responses; memory of idle readers',
    options: timed(5, 3),
    load: () => import('./http.js'),
  }),
  deliveries: goals({
    summary:
      'deliveries to functions and webhooks, compared with loops that do the same, and with job queues',
    options: {
      size: sizeOption('10k', '100k', '1m'),
      part: oneOf(['backlog', 'beside', 'jobs', 'all'], 'all', 'what is measured'),
      ...timed(3, 5),
    },
    needsPeers: true,
    load: () => import('./deliveries.js'),
  }),
  record: sections({
    summary: 'record() on SQLite, compared with better-sqlite3 and the same rows',
    options: timed(5, 2),
    load: () => import('./record.js'),
  }),
  capture: sections({
    summary:
      'captureChanges on SQLite and Postgres: the price per row of an INSERT, UPDATE, DELETE',
    options: {
      rounds: wholeNumber(5, 'rounds'),
      rows: wholeNumber(10_000, 'rows of a table'),
    },
    load: () => import('./capture.js'),
  }),
  postgres: sections({
    summary:
      'record() on Postgres, compared with plain SQL and peers; many processes on a slow disk; the index under load',
    options: {
      part: oneOf(['processes', 'record', 'lag', 'all'], 'all', 'what is measured'),
      ...timed(4, 1),
    },
    needsPeers: true,
    load: () => import('./postgres.js'),
  }),
  capacity: sections({
    summary:
      'the cost of an event on Postgres, a model of larger loads checked at two rates, and the price of a standby',
    options: timed(3, 5),
    load: () => import('./capacity.js'),
  }),
  logs: sections({
    summary:
      'many logs on one Postgres server: catalogue, disk, opening, reading some and all of them',
    options: {
      logs: wholeNumber(10_000, 'logs'),
      connections: wholeNumber(10, 'most connections'),
      sample: wholeNumber(200, 'logs that are opened one by one'),
    },
    load: () => import('./logs.js'),
  }),
  large: sections({
    summary: 'how lists, counts, the index, vacuum and planning grow with a log on Postgres',
    options: {
      sizes: wholeNumbers([100_000, 1_000_000], 'events of the logs'),
      logs: oneOf(
        ['separate', 'one'],
        'separate',
        'a log for each size, or one that grows by days from the smallest to the largest',
      ),
      folder: folderName('', 'folder for the server, which stays there for the next run'),
      seconds: positiveNumber(3600, 'seconds after which a log is left to be continued'),
      part: oneOf(
        ['fill', 'growth', 'removal', 'all'],
        'all',
        'what is measured, once the logs are filled',
      ),
      days: wholeNumber(
        10,
        'oldest days of the largest log that are archived and dropped, and others that are dropped',
      ),
    },
    load: () => import('./large.js'),
  }),
  processes: sections({
    summary: 'four processes that record into one SQLite file',
    options: timed(3, 20),
    load: () => import('./processes.js'),
  }),
  throttle: sections({
    summary: 'suppressed calls on each store',
    options: timed(5, 1),
    load: () => import('./throttle.js'),
  }),
  cleaning: sections({
    summary: 'record() during cleaning runs',
    options: {
      events: wholeNumber(2_000_000, 'events in the log, of which half are removed'),
      store: oneOf(['sqlite', 'postgres', 'both'], 'both', 'store'),
      ...timed(4, 20),
    },
    load: () => import('./cleaning.js'),
  }),
  filter: sections({
    summary: 'filters in memory, compared with sift, mingo and regular expressions',
    options: {
      size: oneOf(['100k', '1m', 'both'], 'both', 'events'),
      rounds: wholeNumber(5, 'rounds'),
      cap: positiveNumber(10, 'seconds after which a regular expression is stopped'),
    },
    load: () => import('./filter.js'),
  }),
  'http-stores': sections({
    summary: 'GET /api/events on each store, compared with static responses',
    options: timed(5, 3),
    load: () => import('./http-stores.js'),
  }),
  requests: sections({
    summary: 'the cost of recordRequests for a POST request',
    options: timed(5, 3),
    load: () => import('./requests.js'),
  }),
  names: sections({
    summary: 'a log in which each event has an attribute name of its own',
    options: { size: oneOf(['10k', '100k', '1m'], '100k', 'events in the log') },
    load: () => import('./names.js'),
  }),
  disk: sections({
    summary: 'what a log takes on disk, by part, compared with the JSON text of its attributes',
    options: {
      size: oneOf(['10k', '100k', '1m', 'both'], 'both', 'events in the log'),
      store: oneOf(['sqlite', 'postgres', 'both'], 'both', 'store'),
      records: fileName('JSON objects, one per line, in place of the sample events'),
    },
    load: () => import('./disk.js'),
  }),
  streams: sections({
    summary: 'readers of GET /api/events/stream',
    options: timed(3, 30),
    load: () => import('./streams.js'),
  }),
  tails: sections({
    summary: 'record() beside many tails, on SQLite and Postgres',
    options: {
      store: oneOf(['sqlite', 'postgres', 'both'], 'both', 'store'),
      ...timed(3, 10),
    },
    load: () => import('./tails.js'),
  }),
}
