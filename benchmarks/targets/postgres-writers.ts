import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { type SampleEvent, sampleEvents, sampleTypes } from '../harness/sample-events.js'
import { metered } from '../harness/meter.js'
import { copyFrom, createPgBoss, openEmmett } from './postgres-peers.js'

/* What puts events into Postgres: our store, its limits and its peers. */

/** Each with the table its events go to. */
export const TABLES = {
  /** `record` of the store. */
  record: 'daybook.events',
  /** The store's function alone, as it is and without the lock. */
  ordered: 'ordered.events',
  unordered: 'unordered.events',
  /** Plain INSERT of many rows, into the same table with the same indexes. */
  insert: 'plain.events',
  /** The same, and COPY, into a table without what makes events searchable. */
  bare: 'bare',
  copy: 'bare',
  /** Plain INSERT of many rows into a table of jsonb. */
  jsonb: 'plain_jsonb',
  /** Peers. */
  emmett: 'emt_messages',
  'pg-boss': 'pgboss.job',
} as const

export type Subject = keyof typeof TABLES

/** Schemas that the store makes. */
export const STORE_SCHEMAS = ['samples', 'daybook', 'ordered', 'unordered', 'plain'] as const

/** Most processes at work. */
export const LANES = 8

export interface Task {
  readonly subject: Subject
  /** Events a call; of `record` always one. */
  readonly batch: number
  /** Which of the processes at work this is. */
  readonly lane: number
}

export interface Running {
  /** `caller` is a number below that of the calls in flight. */
  call(caller: number): Promise<unknown>
  close(): Promise<void>
}

/** Used over and over. */
const EVENTS = sampleEvents(5000)
export const QUEUE = 'events'

/** Gives the next items of a list that has no end. */
function taker<Item>(items: readonly Item[]): (count: number) => Item[] {
  let next = 0
  return (count) => Array.from({ length: count }, () => items[next++ % items.length]!)
}

/** Gives first times of stretches of `count` microseconds, which no other lane is given. */
function stampsOf(lane: number, count: number): () => number {
  const period = LANES * count
  let last = 0
  return () => {
    last = Math.max(last + period, Math.floor((Date.now() * 1000) / period) * period)
    return last + lane * count
  }
}

const recordAll = (
  audit: AuditLog<typeof sampleTypes>,
  events: readonly SampleEvent[],
): Promise<unknown> =>
  Promise.all(events.map(({ type, data, username }) => audit.record(type, data, { username })))

/** The store's rows of the sample events. */
export async function fillSamples(url: string): Promise<void> {
  const store = postgresStore({ connectionString: url, schema: 'samples' })
  const audit = new AuditLog({ store, types: sampleTypes })
  await recordAll(audit, EVENTS)
  await audit.close()
}

function openRecord(url: string, committed: (events: number) => void): Running {
  const store = metered(postgresStore({ connectionString: url }), committed)
  const audit = new AuditLog({ store, types: sampleTypes })
  const take = taker(EVENTS)
  return {
    call: () => recordAll(audit, take(1)),
    close: () => audit.close(),
  }
}

interface Call {
  readonly text: string
  readonly values: readonly unknown[]
}

// In place of a time that each call is given when it is made.
const TIME = 1_800_000_000_000_000

/** The calls of its function that the store makes, with everything prepared but the time. */
async function storeCalls(url: string, batch: number): Promise<Call[]> {
  const calls: Call[] = []
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    Object.assign(client, {
      query(...args: [Call, ...unknown[]]) {
        if (args[0].text?.includes('append(')) calls.push(args[0])
        return query(...args)
      },
    })
  })
  const store = postgresStore({ pool, schema: 'samples', clock: () => TIME })
  const waiting = { deadlineMs: 3_600_000 }
  const audit = new AuditLog({ store, types: sampleTypes, waiting })
  const take = taker(EVENTS)
  for (let i = 0; i < 20; i++) await recordAll(audit, take(batch))
  await audit.close()
  await pool.end()
  return calls.slice(-20)
}

/** An array in binary, as one of elements of another type. */
function withType(array: Buffer, type: number): Buffer {
  const copy = Buffer.from(array)
  copy.writeUInt32BE(type, 8)
  return copy
}

async function openFunction(url: string, { subject, batch, lane }: Task): Promise<Running> {
  const calls = await storeCalls(url, batch)
  const schema = subject
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ type: number }>(
    `SELECT '"${schema}".events'::regtype::oid AS type`,
  )
  const ready = calls.map(({ text, values: [drafts, ...values] }): Call => ({
    text: text.replaceAll('"samples"', `"${schema}"`),
    values: [withType(drafts as Buffer, rows[0]!.type), ...values],
  }))
  const take = taker(ready)
  const stamp = stampsOf(lane, batch)
  return {
    async call() {
      const [{ text, values }] = take(1) as [Call]
      // The last of the times; the function takes those before it.
      const time = stamp() + batch
      await client.query({ text, values: values.map((v) => (v === TIME ? time : v)) })
    },
    async close() {
      await client.end()
    },
  }
}

interface Row {
  readonly tail: string
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly system: boolean
  readonly attributes: string
  readonly terms: string
}

const LINES = String.raw`E'\n'`

async function openPlain(url: string, { subject, batch, lane }: Task): Promise<Running> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<Row>(
    `SELECT tail, type, username, source, system, attributes::text, terms::text
     FROM samples.events ORDER BY created_at LIMIT ${EVENTS.length}`,
  )
  const take = taker(rows)
  const stamp = stampsOf(lane, batch)
  const lines = (rows: readonly Row[], column: 'attributes' | 'terms'): string =>
    rows.map((row) => row[column]).join('\n')

  const insert = async (): Promise<void> => {
    const rows = take(batch)
    await client.query(
      `INSERT INTO plain.events
       SELECT $1::bigint + i, tail, type, username, source, system, attributes::json, terms::int4[]
       FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[],
         string_to_array($7, ${LINES}), string_to_array($8, ${LINES})
       ) WITH ORDINALITY AS draft(tail, type, username, source, system, attributes, terms, i)`,
      [
        stamp(),
        rows.map((row) => row.tail),
        rows.map((row) => row.type),
        rows.map((row) => row.username),
        rows.map((row) => row.source),
        rows.map((row) => row.system),
        lines(rows, 'attributes'),
        lines(rows, 'terms'),
      ],
    )
  }
  const insertBare = (): Promise<unknown> =>
    client.query(
      `INSERT INTO bare SELECT $1::bigint + i, attributes::json
       FROM string_to_table($2, ${LINES}) WITH ORDINALITY AS draft(attributes, i)`,
      [stamp(), lines(take(batch), 'attributes')],
    )
  const insertJsonb = async (): Promise<void> => {
    const rows = take(batch)
    await client.query(
      `INSERT INTO plain_jsonb
       SELECT $1::bigint + i, type, username, attributes::jsonb
       FROM unnest($2::text[], $3::text[], string_to_array($4, ${LINES}))
         WITH ORDINALITY AS draft(type, username, attributes, i)`,
      [
        stamp(),
        rows.map((row) => row.type),
        rows.map((row) => row.username),
        lines(rows, 'attributes'),
      ],
    )
  }
  const escaped = taker(rows.map((row) => row.attributes.replaceAll('\\', '\\\\')))
  const copy = (): Promise<unknown> => {
    const first = stamp()
    const text = escaped(batch)
      .map((attributes, i) => `${first + i}\t${attributes}\n`)
      .join('')
    return new Promise((resolve, reject) => {
      const stream = client.query(copyFrom('COPY bare FROM STDIN'))
      stream.once('error', reject).once('finish', () => resolve(undefined))
      stream.end(text)
    })
  }
  const calls = { insert, bare: insertBare, copy, jsonb: insertJsonb }
  const call = calls[subject as keyof typeof calls]
  return {
    call,
    async close() {
      await client.end()
    },
  }
}

/** Each caller appends to a stream of its own, so that none has to try again. */
function openEmmettStore(url: string, { batch, lane }: Task): Running {
  const store = openEmmett(url)
  const take = taker(
    EVENTS.map(({ type, data, username }) => ({ type, data: { ...data, username } })),
  )
  return {
    call: (caller) => store.appendToStream(`stream-${lane}-${caller}`, take(batch)),
    close: () => store.close(),
  }
}

async function openBoss(url: string, { batch }: Task): Promise<Running> {
  const boss = createPgBoss(url)
  await boss.start()
  const take = taker(
    EVENTS.map(({ type, data, username }) => ({ name: QUEUE, data: { ...data, type, username } })),
  )
  return {
    call: () => (batch === 1 ? boss.send(QUEUE, take(1)[0]!.data) : boss.insert(take(batch))),
    close: () => boss.stop({ graceful: false, wait: true }),
  }
}

export async function open(
  url: string,
  task: Task,
  committed: (events: number) => void,
): Promise<Running> {
  switch (task.subject) {
    case 'record':
      return openRecord(url, committed)
    case 'ordered':
    case 'unordered':
      return openFunction(url, task)
    case 'insert':
    case 'bare':
    case 'copy':
    case 'jsonb':
      return openPlain(url, task)
    case 'emmett':
      return openEmmettStore(url, task)
    case 'pg-boss':
      return openBoss(url, task)
  }
}
