import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { withCommitHook } from '../harness/meter.js'
import {
  cycle,
  recordAll,
  sampleEvents,
  sampleLinks,
  sampleTypes,
} from '../harness/sample-events.js'
import { createPgBoss, openEmmett } from './postgres-peers.js'

/* Everything that writes events to Postgres: Daybook's store, plain SQL, and peers. */

/** The writers, each with the table that it writes to. */
export const TABLES = {
  /** `record` of the store. */
  record: 'daybook.events',
  /** INSERT of many rows into the store's table with its indexes. */
  insert: 'plain.events',
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

interface Writer {
  /** `caller` is the number of the concurrent caller, from 0. */
  call(caller: number): Promise<unknown>
  close(): Promise<void>
}

/** Writers use these over and over. */
const EVENTS = sampleEvents(5000)
export const QUEUE = 'events'

/**
 * Returns the first time of a range of `batch` microseconds. No two calls and no two processes get
 * overlapping ranges.
 */
function createTimeRanges({ processNumber, batch }: Task): () => number {
  const period = MAX_PROCESSES * batch
  let last = 0
  return () => {
    last = Math.max(last + period, Math.floor((Date.now() * 1000) / period) * period)
    return last + processNumber * batch
  }
}

/** Stores the sample events in the schema `samples`, so that plain SQL can insert the same rows. */
export async function fillSamples(url: string): Promise<void> {
  const store = postgresStore({ connectionString: url, schema: 'samples' })
  const audit = new AuditLog({ store, types: sampleTypes, links: sampleLinks })
  await recordAll(audit, EVENTS)
  await audit.close()
}

function openRecord(url: string, committed: (events: number) => void): Writer {
  const store = withCommitHook(postgresStore({ connectionString: url }), committed)
  const audit = new AuditLog({ store, types: sampleTypes, links: sampleLinks })
  const take = cycle(EVENTS)
  return {
    call: () => recordAll(audit, take(1)),
    close: () => audit.close(),
  }
}

interface Row {
  readonly suffix: string
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly system: boolean
  readonly attributes: string
}

/** The attributes of the rows, as one text with a line per row. */
const linesOf = (rows: readonly Row[]): string => rows.map((row) => row.attributes).join('\n')

const INSERT = String.raw`INSERT INTO plain.events
  SELECT $1::bigint + i, suffix, type, username, source, system, attributes::json
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], string_to_array($7, E'\n'))
    WITH ORDINALITY AS draft(suffix, type, username, source, system, attributes, i)`

/** Inserts the rows that the store makes of the events. */
async function openPlainSql(url: string, task: Task): Promise<Writer> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows: all } = await client.query<Row>(
    `SELECT suffix, type, username, source, system, attributes::text
     FROM samples.events ORDER BY created_at LIMIT ${EVENTS.length}`,
  )
  const take = cycle(all)
  const nextTime = createTimeRanges(task)
  const insert = (): Promise<unknown> => {
    const rows = take(task.batch)
    return client.query(INSERT, [
      nextTime(),
      rows.map((row) => row.suffix),
      rows.map((row) => row.type),
      rows.map((row) => row.username),
      rows.map((row) => row.source),
      rows.map((row) => row.system),
      linesOf(rows),
    ])
  }
  return { call: insert, close: () => client.end() }
}

/** Each caller appends to its own stream, so that no call conflicts with another. */
function openEmmettStore(url: string, { batch, processNumber }: Task): Writer {
  const store = openEmmett(url)
  const take = cycle(
    EVENTS.map(({ type, data, username }) => ({ type, data: { ...data, username } })),
  )
  return {
    call: (caller) => store.appendToStream(`stream-${processNumber}-${caller}`, take(batch)),
    close: () => store.close(),
  }
}

async function openBoss(url: string, { batch }: Task): Promise<Writer> {
  const boss = createPgBoss(url)
  await boss.start()
  const take = cycle(
    EVENTS.map(({ type, data, username }) => ({ name: QUEUE, data: { ...data, type, username } })),
  )
  return {
    call: () => (batch === 1 ? boss.send(QUEUE, take(1)[0]!.data) : boss.insert(take(batch))),
    close: () => boss.stop({ graceful: false, wait: true }),
  }
}

/** `committed` is called with the number of events of each commit of `record`. */
export async function openWriter(
  url: string,
  task: Task,
  committed: (events: number) => void,
): Promise<Writer> {
  const { writer } = task
  switch (writer) {
    case 'record':
      return openRecord(url, committed)
    case 'insert':
      return openPlainSql(url, task)
    case 'emmett':
      return openEmmettStore(url, task)
    case 'pg-boss':
      return openBoss(url, task)
  }
}
