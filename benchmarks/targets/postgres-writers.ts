import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { withCommitHook } from '../harness/meter.js'
import { cycle, recordAll, sampleTypes } from '../harness/sample-events.js'
import { copyFrom, createPgBoss, openEmmett } from './postgres-peers.js'
import { createTimeRanges, EVENTS, QUEUE, type Task, type Writer } from './postgres-task.js'

/* Everything that writes events to Postgres: Daybook's store, plain SQL, and peers. */

/** Stores the sample events in the schema `samples`, so that plain SQL can insert the same rows. */
export async function fillSamples(url: string): Promise<void> {
  const store = postgresStore({ connectionString: url, schema: 'samples' })
  const audit = new AuditLog({ store, types: sampleTypes })
  await recordAll(audit, EVENTS)
  await audit.close()
}

function openRecord(url: string, committed: (events: number) => void): Writer {
  const store = withCommitHook(postgresStore({ connectionString: url }), committed)
  const audit = new AuditLog({ store, types: sampleTypes })
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

/** What a writer of plain SQL works with. */
interface PlainSql {
  readonly client: pg.Client
  readonly take: (count: number) => Row[]
  /** See `createTimeRanges`. */
  readonly nextTime: () => number
  readonly batch: number
}

const NEWLINE = String.raw`E'\n'`

/** The attributes of the rows, as one text with a line per row. */
const linesOf = (rows: readonly Row[]): string => rows.map((row) => row.attributes).join('\n')

async function insertStoreRows({ client, take, nextTime, batch }: PlainSql): Promise<void> {
  const rows = take(batch)
  await client.query(
    `INSERT INTO plain.events
     SELECT $1::bigint + i, suffix, type, username, source, system, attributes::json
     FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[],
       string_to_array($7, ${NEWLINE})
     ) WITH ORDINALITY AS draft(suffix, type, username, source, system, attributes, i)`,
    [
      nextTime(),
      rows.map((row) => row.suffix),
      rows.map((row) => row.type),
      rows.map((row) => row.username),
      rows.map((row) => row.source),
      rows.map((row) => row.system),
      linesOf(rows),
    ],
  )
}

async function insertBareRows({ client, take, nextTime, batch }: PlainSql): Promise<void> {
  await client.query(
    `INSERT INTO bare SELECT $1::bigint + i, attributes::json
     FROM string_to_table($2, ${NEWLINE}) WITH ORDINALITY AS draft(attributes, i)`,
    [nextTime(), linesOf(take(batch))],
  )
}

async function insertJsonbRows({ client, take, nextTime, batch }: PlainSql): Promise<void> {
  const rows = take(batch)
  await client.query(
    `INSERT INTO plain_jsonb
     SELECT $1::bigint + i, type, username, attributes::jsonb
     FROM unnest($2::text[], $3::text[], string_to_array($4, ${NEWLINE}))
       WITH ORDINALITY AS draft(type, username, attributes, i)`,
    [nextTime(), rows.map((row) => row.type), rows.map((row) => row.username), linesOf(rows)],
  )
}

function copyBareRows({ client, take, nextTime, batch }: PlainSql): Promise<void> {
  const first = nextTime()
  const text = take(batch)
    .map(({ attributes }, i) => `${first + i}\t${attributes}\n`)
    .join('')
  return new Promise((resolve, reject) => {
    const stream = client.query(copyFrom('COPY bare FROM STDIN'))
    stream.once('error', reject).once('finish', () => resolve())
    stream.end(text)
  })
}

const PLAIN_CALLS = {
  insert: insertStoreRows,
  bare: insertBareRows,
  copy: copyBareRows,
  jsonb: insertJsonbRows,
} as const

async function openPlainSql(
  url: string,
  task: Task & { readonly writer: keyof typeof PLAIN_CALLS },
): Promise<Writer> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<Row>(
    `SELECT suffix, type, username, source, system, attributes::text
     FROM samples.events ORDER BY created_at LIMIT ${EVENTS.length}`,
  )
  // COPY reads a backslash as an escape.
  const escaped = (row: Row): Row => ({
    ...row,
    attributes: row.attributes.replaceAll('\\', '\\\\'),
  })
  const sql: PlainSql = {
    client,
    take: cycle(task.writer === 'copy' ? rows.map(escaped) : rows),
    nextTime: createTimeRanges(task),
    batch: task.batch,
  }
  return {
    call: () => PLAIN_CALLS[task.writer](sql),
    close: () => client.end(),
  }
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
    case 'bare':
    case 'copy':
    case 'jsonb':
      return openPlainSql(url, { ...task, writer })
    case 'emmett':
      return openEmmettStore(url, task)
    case 'pg-boss':
      return openBoss(url, task)
  }
}
