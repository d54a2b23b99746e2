import { median } from 'simple-statistics'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { startServer } from '../harness/postgres-server.js'
import { type ConcurrentWorker, runTogether, Worker } from '../harness/workers.js'
import { createPgBoss, openEmmett } from './postgres-peers.js'
import type { Answer, Job } from './postgres-process.js'
import { fillSamples, QUEUE, STORE_SCHEMAS, TABLES, type WriterName } from './postgres-writers.js'

/* A Postgres server, and the processes that write to it. */

/** What concurrent processes reached. */
export interface Outcome {
  /** Of all processes. */
  readonly eventsPerSecond: number
  /** Milliseconds of a call, in the process where it takes longest. */
  readonly p50: number
  readonly p99: number
  /** Mean number of events in a commit; NaN for all but `record`. */
  readonly meanBatch: number
  /** Rows in the table. */
  readonly stored: number
}

export interface WorkerPool {
  readonly client: pg.Client
  /** Lets processes write to an empty table, and checks that it has all acknowledged events. */
  run(processes: number, job: Omit<Job, 'processNumber'>): Promise<Outcome>
  /** Ends the processes. */
  endWorkers(): Promise<void>
}

async function createTables(url: string): Promise<void> {
  for (const schema of STORE_SCHEMAS) {
    const store = postgresStore({ connectionString: url, schema })
    const audit = new AuditLog({ store, types: {} })
    // The first call creates the schema.
    await audit.list()
    await audit.close()
  }
  await fillSamples(url)
  const emmett = openEmmett(url)
  await emmett.schema.migrate()
  await emmett.close()
  const boss = createPgBoss(url)
  await boss.start()
  await boss.createQueue(QUEUE)
  await boss.stop({ graceful: false, wait: true })
}

async function countRows(client: pg.Client, writer: WriterName): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${TABLES[writer]}`)
  return Number(rows[0]!.count)
}

type PoolWorker = ConcurrentWorker<Job, Answer>

function createPool(url: string, client: pg.Client): WorkerPool {
  const pools = new Map<WriterName, PoolWorker[]>()

  /** Each writer has its own processes. */
  const workersFor = async (writer: WriterName, count: number): Promise<PoolWorker[]> => {
    const existing = pools.get(writer) ?? []
    const missing = Math.max(0, count - existing.length)
    const started = Array.from({ length: missing }, () =>
      Worker.start<Job | 'start', Answer>('postgres-process.ts', url),
    )
    const workers = [...existing, ...(await Promise.all(started))]
    pools.set(writer, workers)
    return workers.slice(0, count)
  }

  return {
    client,
    async run(processes, job) {
      const workers = await workersFor(job.writer, processes)
      await client.query(`TRUNCATE ${TABLES[job.writer]}`)
      await client.query('CHECKPOINT')
      const answers = await runTogether(workers, (processNumber) => ({ ...job, processNumber }))
      const stored = answers.reduce((sum, answer) => sum + answer.stored, 0)
      const rows = await countRows(client, job.writer)
      if (rows !== stored)
        throw new Error(`${job.writer}: ${stored} events were acknowledged, ${rows} rows exist`)
      const batches = answers.map(({ meanBatch }) => meanBatch).filter(Number.isFinite)
      return {
        eventsPerSecond: answers.reduce((sum, answer) => sum + answer.eventsPerSecond, 0),
        p50: Math.max(...answers.map(({ p50 }) => p50)),
        p99: Math.max(...answers.map(({ p99 }) => p99)),
        meanBatch: batches.length === 0 ? Number.NaN : median(batches),
        stored,
      }
    },
    async endWorkers() {
      for (const worker of [...pools.values()].flat()) await worker.end()
      pools.clear()
    },
  }
}

/** Calls `use` with a pool on a new server. Checkpoints run only between measurements. */
export async function withWorkerPool<Result>(
  use: (pool: WorkerPool) => Promise<Result>,
): Promise<Result> {
  const server = await startServer('checkpoint_timeout=1h')
  const client = new pg.Client({ connectionString: server.url })
  try {
    await client.connect()
    await createTables(server.url)
    const pool = createPool(server.url, client)
    const result = await use(pool)
    await pool.endWorkers()
    return result
  } finally {
    // Before the server, whose end would be an unhandled error of the client.
    await client.end()
    await server.stop()
  }
}
