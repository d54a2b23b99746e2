import type { Described } from '../harness/suite.js'

/* The suites, in the order of the report. */

const TIMED = { rounds: 3, seconds: 1 } as const
const MILLION = 1_000_000

export const SUITES: Readonly<Record<string, Described>> = {
  record: {
    title: 'Recording on SQLite',
    summary: '`record()` compared with better-sqlite3 alone and with other libraries',
    defaults: TIMED,
    parts: ['limits', 'rate', 'peers'],
    needsPeers: true,
    load: () => import('./record.js'),
  },
  processes: {
    title: 'Processes on one SQLite file',
    summary: 'Four processes that record into one file, also on a disk that syncs slowly',
    defaults: { rounds: 2, seconds: 4 },
    parts: ['fast', 'slow'],
    load: () => import('./processes.js'),
  },
  queries: {
    title: 'Queries on SQLite',
    summary:
      'One log: how fast it is filled and indexed, lists, growth, a cold file, counts, texts',
    defaults: { rounds: 2, events: MILLION },
    parts: ['upkeep', 'lists', 'growth', 'cold', 'memory', 'counts', 'free-text'],
    load: () => import('./queries.js'),
  },
  memory: {
    title: 'Queries in memory',
    summary: 'Lists of the memory store, compared with sift and mingo',
    defaults: { rounds: 2, events: MILLION },
    parts: ['lists'],
    load: () => import('./memory.js'),
  },
  postgres: {
    title: 'Recording on Postgres',
    summary:
      '`record()` compared with plain SQL and with other libraries, of many processes on a disk that flushes slowly, and the index under load',
    defaults: { rounds: 2, seconds: 1 },
    parts: ['record', 'processes', 'index'],
    needsPeers: true,
    load: () => import('./postgres.js'),
  },
  'postgres-queries': {
    title: 'Queries on Postgres',
    summary: 'One log: lists, counts, texts',
    defaults: { rounds: 2, events: MILLION },
    parts: ['lists', 'counts', 'free-text'],
    load: () => import('./postgres-queries.js'),
  },
  capacity: {
    title: 'Capacity',
    summary: 'The cost of a commit and of an event on Postgres, and the price of a standby',
    defaults: { rounds: 2, seconds: 3 },
    parts: ['costs', 'standby'],
    load: () => import('./capacity.js'),
  },
  logs: {
    title: 'Many logs',
    summary: 'Many logs on one Postgres server: catalogue, disk, reads of one, of some and of all',
    defaults: { logs: 500 },
    parts: ['logs'],
    load: () => import('./logs.js'),
  },
  capture: {
    title: 'Captured changes',
    summary: 'The price of `captureChanges` for the transaction that changes rows',
    defaults: { rounds: 3, rows: 10_000 },
    parts: ['sqlite', 'postgres'],
    load: () => import('./capture.js'),
  },
  cleaning: {
    title: 'Cleaning',
    summary: '`record()` while cleaning runs remove half of the events',
    defaults: { rounds: 2, seconds: 6, events: 200_000 },
    parts: ['sqlite', 'postgres'],
    load: () => import('./cleaning.js'),
  },
  ledger: {
    title: 'The ledger',
    summary: 'What a ledger costs beside `record()`; how fast it seals, verifies and proves',
    defaults: { rounds: 3, seconds: 2, events: MILLION },
    parts: ['record', 'beside', 'sealing', 'verify', 'prove'],
    load: () => import('./ledger.js'),
  },
  privacy: {
    title: 'Personal values',
    summary: 'What encryption of personal values costs: of types without any, sealing, opening',
    defaults: { rounds: 3, seconds: 2, events: 100_000 },
    parts: ['record', 'costs'],
    load: () => import('./privacy.js'),
  },
  http: {
    title: 'HTTP',
    summary: '`GET /api/events`, recorded requests, and readers of streams',
    defaults: { rounds: 2, seconds: 1.5, events: 100_000 },
    parts: ['feed', 'requests', 'streams', 'idle'],
    load: () => import('./http.js'),
  },
  deliveries: {
    title: 'Deliveries',
    summary: 'Subscriptions and tails: a backlog, what they cost beside recording, and job queues',
    defaults: { rounds: 2, seconds: 3, events: 100_000 },
    parts: ['backlog', 'beside', 'jobs'],
    needsPeers: true,
    load: () => import('./deliveries.js'),
  },
}
