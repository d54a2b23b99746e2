import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { startOwnPostgres } from '../../test/support/postgres.js'
import { median } from '../harness/format.js'
import { PLAIN_TABLE } from './jsonb-table.js'
import { createPgBoss, openEmmett } from './postgres-peers.js'
import { fillSamples, QUEUE, STORE_SCHEMAS, type Subject, TABLES } from './postgres-writers.js'
import type { Answer, Job } from './postgres-process.js'
import { type Mate, together, Worker } from '../harness/workers.js'

/* A server, and the processes that put events into it. */

/** As a server in earnest has them, with checkpoints when nothing is measured. */
const SETTINGS = [
  ...['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'shared_buffers=512MB'],
  ...['max_wal_size=4GB', 'checkpoint_timeout=1h'],
]

/** What processes did together. */
export interface Outcome {
  /** Of all. */
  readonly eventsPerSecond: number
  /** Milliseconds of a call, in the process where it is longest. */
  readonly p50: number
  readonly p99: number
  /** Events that shared a commit, on average; of `record` only. */
  readonly meanBatch: number
  /** Events in the table. */
  readonly stored: number
}

export interface Crew {
  readonly client: pg.Client
  /** Has so many processes put events into an empty table, and checks that all are there. */
  run(processes: number, job: Omit<Job, 'lane'>): Promise<Outcome>
  /** Ends the processes. */
  dismiss(): Promise<void>
  /** Ends the server as well. */
  end(): Promise<void>
}

async function prepare(url: string, client: pg.Client): Promise<void> {
  for (const schema of STORE_SCHEMAS) {
    const store = postgresStore({ connectionString: url, schema })
    const audit = new AuditLog({ store, types: {} })
    // The first call makes the schema.
    await audit.list()
    await audit.close()
  }
  await fillSamples(url)
  await client.query('CREATE TABLE bare (created_at bigint PRIMARY KEY, attributes json NOT NULL)')
  await client.query(PLAIN_TABLE)
  const emmett = openEmmett(url)
  await emmett.schema.migrate()
  await emmett.close()
  const boss = createPgBoss(url)
  await boss.start()
  await boss.createQueue(QUEUE)
  await boss.stop({ graceful: false, wait: true })
}

async function countRows(client: pg.Client, subject: Subject): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${TABLES[subject]}`)
  return Number(rows[0]!.count)
}

export async function startCrew(): Promise<Crew> {
  const server = await startOwnPostgres(SETTINGS)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await prepare(server.url, client)
  const crews = new Map<Subject, Mate<Job, Answer>[]>()

  /** Processes that have this subject to themselves. */
  const matesFor = async (subject: Subject, count: number): Promise<Mate<Job, Answer>[]> => {
    const there = crews.get(subject) ?? []
    const more = Array.from({ length: Math.max(0, count - there.length) }, () =>
      Worker.start<Job | 'go', Answer>('postgres-process.ts', server.url),
    )
    const mates = [...there, ...(await Promise.all(more))]
    crews.set(subject, mates)
    return mates.slice(0, count)
  }

  const dismiss = async (): Promise<void> => {
    for (const mate of [...crews.values()].flat()) await mate.end()
    crews.clear()
  }

  return {
    client,
    async run(processes, job) {
      const mates = await matesFor(job.subject, processes)
      await client.query(`TRUNCATE ${TABLES[job.subject]}`)
      await client.query('CHECKPOINT')
      const answers = await together(mates, (lane) => ({ ...job, lane }))
      const stored = answers.reduce((sum, answer) => sum + answer.stored, 0)
      const rows = await countRows(client, job.subject)
      if (rows !== stored)
        throw new Error(`${job.subject}: ${stored} events were acknowledged, ${rows} are there`)
      return {
        eventsPerSecond: answers.reduce((sum, answer) => sum + answer.eventsPerSecond, 0),
        p50: Math.max(...answers.map(({ p50 }) => p50)),
        p99: Math.max(...answers.map(({ p99 }) => p99)),
        meanBatch: median(answers.map(({ meanBatch }) => meanBatch).filter(Number.isFinite)),
        stored,
      }
    },
    dismiss,
    async end() {
      await dismiss()
      await client.end()
      await server.stop()
    },
  }
}
