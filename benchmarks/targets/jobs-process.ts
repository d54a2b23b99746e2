import { randomUUID } from 'node:crypto'
import { AuditLog, type AuditEvent } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { createCounter, type Throughput } from '../harness/counter.js'
import { fillLog, sampleEvents, sampleLinks, sampleTypes } from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import { createPgBoss, graphileWorker } from './postgres-peers.js'

/*
 * A process that calls a function with each event on Postgres: as a subscription, or with a job for each event that was queued
 * before. The function does nothing.
 */

export type Side = 'daybook' | 'pg-boss' | 'graphile-worker'

export interface Trial {
  readonly side: Side
  readonly events: number
}

const { url } = readSetup() as { readonly url: string }
const QUEUED_AT_ONCE = 1000

/** The events of a delivery, and the jobs that a worker of pg-boss takes at a time. */
const BATCH = 1000
/** Each takes a batch at most twice a second. */
const PG_BOSS_WORKERS = 10
/** Takes and completes jobs in batches, as its documentation advises for speed. */
const GRAPHILE = { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0 }

const warmUpOf = (events: number): number => events / 10

/** Queues a job for each event, some at a time. */
async function queueAll(
  count: number,
  queue: (events: readonly object[]) => Promise<unknown>,
): Promise<void> {
  const events = sampleEvents(count)
  for (let at = 0; at < count; at += QUEUED_AT_ONCE)
    await queue(events.slice(at, at + QUEUED_AT_ONCE))
}

/** Counts events; `ended` resolves once there are enough. */
function countUntilEnd(events: number) {
  const counter = createCounter(warmUpOf(events), events)
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const add = (count: number): void => {
    if (counter.add(count)) end()
  }
  return { add, ended, result: counter.result }
}

const RUN: Readonly<Record<Side, (events: number) => Promise<Throughput>>> = {
  async daybook(events) {
    const { add, ended, result } = countUntilEnd(events)
    // The events of former trials are not delivered.
    const name = `trial-${randomUUID()}`
    const deliver = (all: readonly AuditEvent[]): void => add(all.length)
    const audit = new AuditLog({
      store: postgresStore({ connectionString: url }),
      types: sampleTypes,
      links: sampleLinks,
      subscriptions: { channels: { [name]: { batch: { maxEvents: BATCH }, deliver } } },
    })
    const { id } = await audit.subscriptions.create({ name, channel: name, paused: true })
    await fillLog(audit, events + warmUpOf(events))
    await audit.subscriptions.resume(id)
    await ended
    await audit.subscriptions.remove(id)
    await audit.close()
    return result()
  },
  async 'pg-boss'(events) {
    const { add, ended, result } = countUntilEnd(events)
    const boss = createPgBoss(url)
    const name = `trial-${randomUUID()}`
    await boss.start()
    await boss.createQueue(name)
    await queueAll(events + warmUpOf(events), (some) =>
      boss.insert(some.map((data) => ({ name, data: { ...data } }))),
    )
    const options = { batchSize: BATCH, pollingIntervalSeconds: 0.5 }
    for (let n = 0; n < PG_BOSS_WORKERS; n++)
      await boss.work(name, options, async (jobs) => add(jobs.length))
    await ended
    await boss.stop({ graceful: true, wait: true })
    return result()
  },
  async 'graphile-worker'(events) {
    const { add, ended, result } = countUntilEnd(events)
    const { makeWorkerUtils, run, Logger } = graphileWorker()
    const logger = new Logger(() => () => {})
    const utils = await makeWorkerUtils({ connectionString: url, logger })
    await utils.migrate()
    await queueAll(events + warmUpOf(events), (some) =>
      utils.addJobs(some.map((payload) => ({ identifier: 'deliver', payload }))),
    )
    await utils.release()
    const runner = await run({
      connectionString: url,
      preset: { worker: GRAPHILE },
      noHandleSignals: true,
      logger,
      taskList: { deliver: async () => add(1) },
    })
    await ended
    await runner.stop()
    return result()
  },
}

serveJobs(
  ({ side, events }: Trial) => RUN[side](events),
  // The local queue of graphile-worker keeps the process alive.
  () => process.exit(),
)
