import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { cycle, recordAll, sampleTypes } from '../harness/sample-events.js'
import { createTimeRanges, EVENTS, type Task, type Writer } from './postgres-task.js'

/* Calls of the SQL function by which the store appends events, with everything prepared but the time. */

interface Call {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Stands for the time, which each call gets when it is made. */
const TIME = 1_800_000_000_000_000
const CALLS = 20

/** Captures the calls that the store makes for batches of this size. */
async function captureCalls(url: string, batch: number): Promise<Call[]> {
  const calls: Call[] = []
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    Object.assign(client, {
      query(...args: [Call, ...unknown[]]) {
        if (args[0].text?.includes('.append_')) calls.push(args[0])
        return query(...args)
      },
    })
  })
  const store = postgresStore({ pool, schema: 'samples', clock: () => TIME })
  const waiting = { deadlineMs: 3_600_000 }
  const audit = new AuditLog({ store, types: sampleTypes, waiting })
  const take = cycle(EVENTS)
  for (let i = 0; i < CALLS; i++) await recordAll(audit, take(batch))
  await audit.close()
  await pool.end()
  return calls.slice(-CALLS)
}

/** Replaces the element type of a binary Postgres array. */
function withElementType(array: Buffer, type: number): Buffer {
  const copy = Buffer.from(array)
  copy.writeUInt32BE(type, 8)
  return copy
}

export async function openAppendFunction(
  url: string,
  task: Task & { readonly writer: 'ordered' | 'unordered' },
): Promise<Writer> {
  const { writer: schema, batch } = task
  const calls = await captureCalls(url, batch)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ type: number }>(
    `SELECT '"${schema}".events'::regtype::oid AS type`,
  )
  const prepared = calls.map(({ text, values: [drafts, ...values] }): Call => ({
    text: text.replaceAll('"samples"', `"${schema}"`),
    values: [withElementType(drafts as Buffer, rows[0]!.type), ...values],
  }))
  const take = cycle(prepared)
  const nextTime = createTimeRanges(task)
  return {
    async call() {
      const [{ text, values }] = take(1) as [Call]
      // The function takes the last of the times and uses those before it.
      const time = nextTime() + batch
      await client.query({ text, values: values.map((v) => (v === TIME ? time : v)) })
    },
    close: () => client.end(),
  }
}
