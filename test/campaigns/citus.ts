import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import fc from 'fast-check'
import { citusSchemas } from '../support/citus-schemas.js'
import { startCitus } from '../support/citus.js'
import { follow, OVER } from '../support/followed.js'
import { allEvents } from '../support/reported-losses.js'
import type { Campaign } from './run.js'

/*
 * Two logs write to one schema of Citus, one of them through a node that may not hold the schema. A third log
 * follows. In each round Citus moves the schema to the other node while eight writers record. No acknowledged event
 * may be lost, doubled or out of order, and the follower must get each event once, in order. test/support/citus.ts
 * describes DAYBOOK_TEST_CITUS.
 */

const WRITERS = 8
const MAX_PAUSE_MS = 1500

interface Kept {
  readonly id: string
  readonly created_at: string
}

interface Writing {
  readonly kept: Map<string, Kept>
  readonly rejected: string[]
  slowestMs: number
  isOver: boolean
}

async function write(audit: AuditLog, writer: number, writing: Writing): Promise<void> {
  let last = ''
  for (let n = 0; !writing.isOver; n++) {
    const key = `${writer}:${n}`
    const begun = performance.now()
    try {
      const event = (await audit.recordCustom('test:moved', { key }))!
      if (event.created_at <= last) writing.rejected.push(`${key} is out of order`)
      last = event.created_at
      writing.kept.set(key, event)
    } catch (error) {
      writing.rejected.push(`${key}: ${String(error)}`)
    }
    writing.slowestMs = Math.max(writing.slowestMs, performance.now() - begun)
  }
}

/** Returns the faults of the log. */
async function check(
  audit: AuditLog,
  { kept, rejected }: Writing,
  followed: readonly string[],
): Promise<string[]> {
  const events = (await allEvents(audit)).filter(({ type }) => type === 'test:moved')
  const found = new Map<string, string>()
  const wrong = [...rejected]
  for (const { id, attributes } of events) {
    const key = attributes['key'] as string
    if (found.has(key)) wrong.push(`doubled: ${key}`)
    found.set(key, id)
  }
  for (const [key, { id }] of kept) if (found.get(key) !== id) wrong.push(`lost: ${key}`)
  const ids = events.map(({ id }) => id)
  const received = new Set(followed)
  const missed = ids.filter((id) => !received.has(id))
  if (missed.length > 0) wrong.push(`the follower missed ${missed.length}, such as ${missed[0]}`)
  else if (followed.join() !== ids.join())
    wrong.push(`the follower got ${followed.length} of ${ids.length} events, or in another order`)
  return wrong
}

export const campaign: Campaign = {
  rounds: 20,
  async run({ seed, rounds, failed }) {
    const { url, nodes, stop } = await startCitus()
    const schemas = citusSchemas(url, 'campaign')
    const schema = schemas.take()
    const entry = new URL(url)
    entry.host = nodes[0]!
    const open = (connectionString: string): AuditLog =>
      new AuditLog({
        store: postgresStore({ connectionString, schema, citus: true }),
        types: {},
        waiting: { deadlineMs: 60_000 },
      })
    const logs = [open(url)]
    const writing: Writing = { kept: new Map(), rejected: [], slowestMs: 0, isOver: false }
    try {
      await logs[0]!.list('limit=1')
      logs.push(open(entry.href), open(url))
      const following = follow(logs[2]!)
      const writers = Array.from({ length: WRITERS }, (_, i) => write(logs[i % 2]!, i, writing))
      const pauses = fc.sample(fc.integer({ min: 0, max: MAX_PAUSE_MS }), { seed, numRuns: rounds })
      const slowest: number[] = []
      const moves: number[] = []
      for (const pause of pauses) {
        await delay(pause)
        writing.slowestMs = 0
        const begun = performance.now()
        await schemas.move(schema, nodes)
        moves.push(Math.round(performance.now() - begun))
        await delay(MAX_PAUSE_MS)
        slowest.push(Math.round(writing.slowestMs))
      }
      writing.isOver = true
      await Promise.all(writers)
      await logs[0]!.recordCustom(OVER)
      for (const what of await check(logs[0]!, writing, await following)) failed(what)
      return { acknowledged: writing.kept.size, slowestRecordMs: slowest, moveMs: moves }
    } finally {
      writing.isOver = true
      for (const log of logs) await log.close()
      await schemas.drop(schema)
      await stop()
    }
  },
}
