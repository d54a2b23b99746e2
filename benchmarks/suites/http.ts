import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { median } from 'simple-statistics'
import { withBundledTarget } from '../harness/bundled-target.js'
import {
  milliseconds,
  percent,
  perSecond,
  type Print,
  ratios,
  times,
  whole,
} from '../harness/format.js'
import { AUTHORIZATION } from '../harness/listen.js'
import {
  type StoreName,
  type StoreSetup,
  storeTitles,
  withDurableStore,
} from '../harness/open-store.js'
import type { Options } from '../harness/options.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import { defineSuite, noSetUp, type Row, summaryOf, type Table } from '../harness/suite.js'
import { withTempFolder } from '../harness/temp.js'
import { Worker } from '../harness/workers.js'
import { CASE_NAMES, type CaseName, CASES, type HttpCase } from '../targets/http-cases.js'
import type { Answer as LoadAnswer, Job as LoadJob } from '../targets/http-client.js'
import type {
  Answer as FeedAnswer,
  Job as FeedJob,
  Setup as FeedSetup,
} from '../targets/http-server.js'
import type { Answer as RequestsAnswer, Job as RequestsJob } from '../targets/requests-server.js'
import type { Answer as ReaderAnswer, Job as ReaderJob } from '../targets/streams-client.js'
import type {
  Answer as StreamAnswer,
  Job as StreamJob,
  Recorded,
} from '../targets/streams-server.js'

/* Services and their clients, each a process on the same machine. */

const STORES: readonly StoreName[] = ['sqlite', 'postgres']

const ratesOf = (loads: readonly LoadAnswer[]): number[] => loads.map((load) => load.perSecond)
const printLoad = (load: LoadAnswer): string => perSecond(load.perSecond)
const latencyOf = (loads: readonly LoadAnswer[]): string =>
  `p50 ${milliseconds(median(loads.map(({ p50 }) => p50)))}, p99 ${milliseconds(median(loads.map(({ p99 }) => p99)))}`

interface Load extends LoadAnswer {
  /** Reads of the store per response. */
  readonly reads: number
}

/** `prepared`: the same bytes from memory. `raw`: handwritten SQLite and concatenation in a route, only beside the store of SQLite. */
type FeedSide = 'feed' | 'prepared' | 'raw'
const FEED_SIDES: { readonly [store in StoreName]: readonly FeedSide[] } = {
  sqlite: ['feed', 'prepared', 'raw'],
  postgres: ['feed', 'prepared'],
}

/** The least ratio to the prepared responses, on SQLite. */
const FEED_GOALS: { readonly [name in CaseName]: number } = {
  paged10: 0.5,
  newest10: 0.5,
  newest1000: 0.8,
}

/** Before each round an event is recorded and the response is checked. */
async function measureFeed(
  store: StoreSetup,
  { rounds, seconds, events }: Options,
): Promise<ReadonlyMap<CaseName, Answers<FeedSide, Load>>> {
  const setup: FeedSetup = { store, events }
  const server = await Worker.start<FeedJob, FeedAnswer>('http-server.ts', setup)
  const client = await Worker.start<LoadJob, LoadAnswer>('http-client.ts', null)
  let url = ''
  const measured = await runRounds<CaseName, FeedSide, Load>({
    cases: CASE_NAMES,
    sides: FEED_SIDES[store.store],
    rounds,
    warmUp: true,
    async prepare(name) {
      url = (await server.ask({ prepare: name })) as string
    },
    async measure(name, side) {
      const { query, connections, isNumbered }: HttpCase = CASES[name]
      const path = { feed: 'api/events', prepared: `prepared/${name}`, raw: `raw/${name}` }[side]
      const answer = await client.ask({
        url: side === 'prepared' ? `${url}/${path}` : `${url}/${path}?${query}`,
        connections,
        isNumbered: isNumbered === true && side !== 'prepared',
        seconds,
        method: 'GET',
        headers: { authorization: AUTHORIZATION },
      })
      if (side !== 'feed') return { ...answer, reads: 0 }
      const reads = (await server.ask('countReads')) as number
      if (isNumbered && reads < answer.responses)
        throw new Error(`${answer.responses} different responses took ${reads} reads of the store`)
      return { ...answer, reads: reads / answer.responses }
    },
    titleOf: (name) => `${store.store}, ${name}`,
    print: printLoad,
  })
  await client.end()
  await server.end()
  return measured
}

function feedRows(store: StoreName, name: CaseName, answers: Answers<FeedSide, Load>): Row[] {
  const { title, connections } = CASES[name]
  const { feed, prepared, raw } = answers
  const isSqlite = store === 'sqlite'
  const reads = times(median(feed.map((one) => Math.min(one.reads, 1))))
  const rate: Row = {
    name: `${title}, ${connections} connections`,
    ours: ratesOf(feed),
    theirs: ratesOf(prepared),
    print: perSecond,
    note: `${latencyOf(feed)}, ${reads} reads per response`,
    goal: isSqlite ? { ratio: { atLeast: FEED_GOALS[name] } } : undefined,
  }
  if (!isSqlite) return [rate]
  // A limit for code that reads the rows from SQLite.
  const share = summaryOf(ratios(ratesOf(raw), ratesOf(prepared)), times)
  return [
    rate,
    {
      ...rate,
      theirs: ratesOf(raw),
      against: `better-sqlite3 and concatenation, ${share} of the prepared body`,
      note: '',
      goal: undefined,
    },
  ]
}

async function feed(_: undefined, options: Options): Promise<Table[]> {
  const tables: Table[] = []
  for (const name of STORES) {
    const measured = await withDurableStore(name, (store) => measureFeed(store, options))
    tables.push({
      title: `\`GET /api/events\` on ${storeTitles[name]}, ${whole(options.events)} events, compared with a prepared body of the same size`,
      text: 'Identical requests that arrive in one turn of the event loop share a read of the store.',
      rows: [...measured].flatMap(([one, answers]) => feedRows(name, one, answers)),
    })
  }
  return tables
}

const SERVICES = ['recorded', 'plain'] as const
type Service = (typeof SERVICES)[number]
const BODY = JSON.stringify({
  name: 'nightly',
  description: 'Copies what has changed since yesterday',
  enabled: true,
  interval: { hours: 24 },
  labels: ['backup', 'north'],
})

/** The event of a request is durable before the response is sent. At the end an event must be stored for each response. */
async function measureRequests(
  store: StoreSetup,
  { rounds, seconds }: Options,
): Promise<ReadonlyMap<number, Answers<Service, LoadAnswer>>> {
  const server = await Worker.start<RequestsJob, RequestsAnswer>('requests-server.ts', store)
  const client = await Worker.start<LoadJob, LoadAnswer>('http-client.ts', null)
  const urls = (await server.ask('urls')) as Exclude<RequestsAnswer, number>
  let responses = 0
  /** Requests for whose response the client did not wait at the end of a trial. */
  let maxAbandoned = 0
  const measured = await runRounds<number, Service, LoadAnswer>({
    cases: [1, 10, 100],
    sides: SERVICES,
    rounds,
    warmUp: true,
    async measure(connections, service) {
      const headers = { 'content-type': 'application/json' }
      const request = { url: urls[service], method: 'POST', headers, body: BODY } as const
      const answer = await client.ask({ ...request, connections, seconds })
      if (service === 'recorded') {
        responses += answer.responses
        maxAbandoned += connections
      }
      return answer
    },
    titleOf: (connections) => `${store.store}, ${connections} connections`,
    print: printLoad,
  })
  await client.end()
  const stored = (await server.ask('close')) as number
  if (stored < responses || stored > responses + maxAbandoned)
    throw new Error(`there were ${responses} responses, but ${stored} events are stored`)
  await server.end()
  return measured
}

async function requests(_: undefined, options: Options): Promise<Table[]> {
  const rows: Row[] = []
  for (const name of STORES) {
    const measured = await withDurableStore(name, (store) => measureRequests(store, options))
    for (const [connections, { recorded, plain }] of measured)
      rows.push({
        name: `${storeTitles[name]}, ${connections} connections`,
        ours: ratesOf(recorded),
        theirs: ratesOf(plain),
        against: latencyOf(plain),
        print: perSecond,
        note: latencyOf(recorded),
      })
  }
  return [
    {
      title: '`recordRequests` on Koa, compared with requests that are not recorded',
      text: `\`POST\` of ${BODY.length} bytes of JSON to a route of @koa/router that responds at once.`,
      rows,
    },
  ]
}

const mebibytes: Print = (value) => `${whole(value)} MiB`
const READERS = 500
/** More events would take the readers, which share the machine, more than a core. */
const PER_SECOND = 500
const FIRST = 1_000_000
const FINISH_SECONDS = 120
/** A trial takes so many times the measured seconds. */
const LONGER = 5

type StreamRound = Recorded & { readonly reading: ReaderAnswer }

/** Every reader must receive every event once, in order. */
const streamTrial = (slow: number, seconds: number): Promise<StreamRound> =>
  withTempFolder(async (folder) => {
    const filename = path.join(folder, 'trial.db')
    const flags = ['--expose-gc']
    const server = await Worker.start<StreamJob, StreamAnswer>('streams-server.ts', filename, flags)
    const url = (await server.ask('listen')) as string
    const client = await Worker.start<ReaderJob, ReaderAnswer>('streams-client.ts', null)
    await client.ask({ open: { url, readers: READERS + slow, slow, first: FIRST } })
    const record = { first: FIRST, perSecond: PER_SECOND, seconds }
    const recorded = (await server.ask({ record })) as Recorded
    const finish = { last: recorded.last, withinSeconds: FINISH_SECONDS }
    const reading = await client.ask({ finish })
    await client.end()
    await server.end()
    if (reading.missed + reading.repeated > 0)
      throw new Error(`readers missed ${reading.missed} events, ${reading.repeated} were repeated`)
    return { ...recorded, reading }
  })

const STREAM_FIGURES: readonly (readonly [
  name: string,
  print: Print,
  of: (round: StreamRound) => number,
])[] = [
  ['from `record` to a reader, p50', milliseconds, ({ reading }) => reading.p50],
  ['p99', milliseconds, ({ reading }) => reading.p99],
  ['memory of the service before the first reader', mebibytes, ({ idle }) => idle],
  ['peak above it', mebibytes, ({ idle, peak }) => peak - idle],
  ['processor time of the service, of one core', percent, ({ cpu }) => cpu],
]

async function streams(_: undefined, { rounds, seconds }: Options): Promise<Table[]> {
  const measured = await runRounds<number, 'all', StreamRound>({
    cases: [0, 10],
    sides: ['all'],
    rounds,
    measure: (slow) => streamTrial(slow, seconds * LONGER),
    titleOf: (slow) => `${slow} slow readers`,
    print: ({ reading }) => `p99 ${milliseconds(reading.p99)}`,
  })
  return [...measured].map(([slow, { all }]) => ({
    title: `\`GET /api/events/stream\`: ${READERS} readers${slow > 0 ? ` and ${slow} slow ones` : ''}`,
    text: `A service on SQLite records ${whole(PER_SECOND)} events/s with about 60 bytes of attributes for ${seconds * LONGER} s.${slow > 0 ? ' A slow reader takes at most 64 KiB per second.' : ''}`,
    rows: STREAM_FIGURES.map(([name, print, of]) => ({ name, ours: all.map(of), print })),
  }))
}

const IDLE_READERS = 10_000
/** Longer than the period of the comments that keep a stream alive. */
const IDLE_SECONDS = 20

/** Connects readers, each by a connection of its own, to a service in another process, which runs without tsx. */
const idle = (): Promise<Table[]> =>
  withTempFolder(async (folder) => {
    const filename = path.join(folder, 'idle.db')
    const server = await withBundledTarget('streams-server.ts', (file) =>
      Worker.start<StreamJob, StreamAnswer>(file, filename),
    )
    const url = (await server.ask('listen')) as string
    const client = await Worker.start<ReaderJob, ReaderAnswer>('streams-client.ts', null)
    const before = (await server.ask('memory')) as number
    await client.ask({ open: { url, readers: IDLE_READERS, slow: 0, first: 0 } })
    await delay(IDLE_SECONDS * 1000)
    const after = (await server.ask('memory')) as number
    await client.ask('leave')
    await client.end()
    await server.end()
    return [
      {
        title: 'Streams without events: memory of the service',
        rows: [
          {
            name: `${whole(IDLE_READERS)} readers, ${IDLE_SECONDS} s after the last has connected`,
            ours: [after],
            theirs: [before],
            against: 'before the first',
            print: mebibytes,
            goal: { figure: { atMost: 300 } },
          },
        ],
      },
    ]
  })

export const suite = defineSuite<undefined>({
  setUp: noSetUp,
  parts: { feed, requests, streams, idle },
})
