import { createHmac, randomUUID } from 'node:crypto'
import http from 'node:http'
import { AuditLog, type AuditEvent, type Channel, describeEvent, sentenceText } from 'daybook'
import { webhook } from 'daybook/channels'
import { createCounter, type Counter, type Throughput } from '../harness/counter.js'
import { type StoreSetup, openStore } from '../harness/open-store.js'
import { fillLog, sampleLinks, sampleTypes } from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/*
 * A process that gets the events of a log from the oldest on: by a loop over `pages`, as a subscription of a function or a webhook,
 * or as requests that were prepared before.
 */

export type Side = 'pages' | 'function' | 'posts' | 'webhook'

export interface Setup {
  readonly store: StoreSetup
  /** Of the receiver of webhooks. */
  readonly url: string
}

export interface Trial {
  readonly side: Side
  readonly events: number
  /** Events of a delivery or request. */
  readonly batch: number
}

export type Job = { readonly fill: number } | Trial

/** The log must have this many events. */
export const eventsOf = ({ events }: Pick<Trial, 'events'>): number => events + warmUpOf(events)

const warmUpOf = (events: number): number => events / 10

const setup = readSetup() as Setup
const KEY = Buffer.alloc(32, 1)
const OLDEST_FIRST = { filter: { sorts: 'created_at asc' } }

const openLog = (channels: Readonly<Record<string, Channel>> = {}) =>
  new AuditLog({
    store: openStore(setup.store),
    types: sampleTypes,
    links: sampleLinks,
    subscriptions: { channels },
  })

async function readPages(counter: Counter): Promise<void> {
  await using audit = openLog()
  for await (const events of audit.pages(OLDEST_FIRST)) if (counter.add(events.length)) return
}

/** Delivers all events of the log to the channel. */
async function deliver(counter: Counter, channel: Channel): Promise<void> {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const counting: Channel = {
    ...channel,
    async deliver(events, context) {
      await channel.deliver(events, context)
      if (counter.add(events.length)) end()
    },
  }
  // Other trials have other subscriptions.
  const name = `trial-${randomUUID()}`
  const audit = openLog({ [name]: counting })
  const definition = { name, channel: name, from: 'beginning' }
  const { id } = await audit.subscriptions.create(definition)
  await ended
  await audit.subscriptions.remove(id)
  await audit.close()
}

interface Prepared {
  readonly body: string
  readonly headers: http.OutgoingHttpHeaders
}

/** The request that the webhook makes of these events. */
function prepare(events: readonly AuditEvent[], batch: number): Prepared {
  const data = events.map((event) => ({
    ...event,
    sentence: sentenceText(describeEvent(event, { types: sampleTypes })),
  }))
  const [first] = events as readonly [AuditEvent, ...AuditEvent[]]
  const id = events.length === 1 ? first.id : `${first.id}_${events.at(-1)!.id}`
  const body = JSON.stringify({
    type: batch > 1 ? 'events' : first.type,
    timestamp: first.created_at,
    data: batch > 1 ? data : data[0],
  })
  const seconds = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', KEY).update(`${id}.${seconds}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'daybook',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  }
  return { body, headers }
}

async function prepareAll(trial: Trial): Promise<Prepared[]> {
  await using audit = openLog()
  const prepared: Prepared[] = []
  const wanted = eventsOf(trial) / trial.batch
  for await (const events of audit.pages(OLDEST_FIRST))
    for (let at = 0; at < events.length; at += trial.batch) {
      if (prepared.length >= wanted) return prepared
      prepared.push(prepare(events.slice(at, at + trial.batch), trial.batch))
    }
  return prepared
}

/** Sends the requests one after the other. */
async function sendAll(
  prepared: readonly Prepared[],
  counter: Counter,
  batch: number,
): Promise<void> {
  const agent = new http.Agent({ keepAlive: true })
  const send = ({ body, headers }: Prepared): Promise<void> =>
    new Promise((resolve, reject) => {
      const request = http.request(setup.url, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', resolve)
      })
      request.on('error', reject)
      request.end(body)
    })
  for (const one of prepared) {
    await send(one)
    if (counter.add(batch)) break
  }
  agent.destroy()
}

const SIDES: Readonly<Record<Side, (trial: Trial, counter: Counter) => Promise<void>>> = {
  pages: (_, counter) => readPages(counter),
  function: ({ batch }, counter) =>
    deliver(counter, { batch: { maxEvents: batch }, deliver: () => {} }),
  async posts(trial, counter) {
    await sendAll(await prepareAll(trial), counter, trial.batch)
  },
  webhook({ batch }, counter) {
    const secret = `whsec_${KEY.toString('base64')}`
    return deliver(counter, webhook({ url: setup.url, secret, batch: { maxEvents: batch } }))
  },
}

async function runTrial(trial: Trial): Promise<Throughput> {
  const counter = createCounter(warmUpOf(trial.events), trial.events)
  await SIDES[trial.side](trial, counter)
  return counter.result()
}

async function fill(count: number): Promise<'filled'> {
  await using audit = openLog()
  await fillLog(audit, count)
  return 'filled'
}

serveJobs((job: Job) => ('fill' in job ? fill(job.fill) : runTrial(job)))
