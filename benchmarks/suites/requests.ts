import { milliseconds, ratios, table, times, whole, withSpread } from '../harness/format.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import { storeTitles, withEachStore } from '../harness/open-store.js'
import type { TimedOptions } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import { Worker } from '../harness/workers.js'
import type { Answer as LoadAnswer, Job as LoadJob } from '../targets/http-client.js'
import type { Framework } from '../targets/recorded-services.js'
import type { Answer as ServerAnswer, Job as ServerJob, Setup } from '../targets/requests-server.js'

/*
 * The cost of `recordRequests` for a mutating request, whose event is durable before the response is
 * sent. Service and client are two processes; recorded and unrecorded requests alternate. At the end an
 * event must be stored for each response.
 */

/** The others are measured with one number of connections, on SQLite. */
const MEASURED_FULLY: Framework = 'Koa'
const OTHERS: readonly Framework[] = ['Express', 'Fastify', 'Hono', 'Fetch', 'node:http']

const CONNECTIONS = [1, 10, 100]
const CONNECTIONS_OF_OTHERS = [10]
const HEADERS = { 'content-type': 'application/json' }
const BODY = JSON.stringify({
  name: 'nightly',
  description: 'Copies what has changed since yesterday',
  enabled: true,
  interval: { hours: 24 },
  labels: ['backup', 'north'],
})

const SERVICES = ['recorded', 'plain'] as const

type Rounds = Answers<(typeof SERVICES)[number], LoadAnswer>

/** By number of connections, the rounds of one framework on one store. */
async function measureService(
  setup: Setup,
  connections: readonly number[],
  { rounds, seconds }: TimedOptions,
): Promise<ReadonlyMap<number, Rounds>> {
  const server = await Worker.start<ServerJob, ServerAnswer>('requests-server.ts', setup)
  const client = await Worker.start<LoadJob, LoadAnswer>('http-client.ts', null)
  const urls = (await server.ask('urls')) as Exclude<ServerAnswer, number>
  const load = (url: string, connections: number): Promise<LoadAnswer> =>
    client.ask({ url, connections, seconds, method: 'POST', headers: HEADERS, body: BODY })

  let responses = 0
  /** Requests for whose response the client did not wait at the end of a trial. */
  let maxAbandoned = 0
  const measured = await runRounds({
    cases: connections,
    sides: SERVICES,
    rounds,
    warmUp: true,
    async measure(connections, service) {
      const answer = await load(urls[service], connections)
      if (service === 'recorded') {
        responses += answer.responses
        maxAbandoned += connections
      }
      return answer
    },
    describe(connections, answers) {
      const figures = SERVICES.map((service) => {
        const { p50, p99 } = answers[service]
        return `${service} p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`
      })
      return `${setup.framework}, ${setup.store.store}, ${connections} connections: ${figures.join('; ')}`
    },
  })
  await client.end()
  const stored = (await server.ask('close')) as number
  if (stored < responses || stored > responses + maxAbandoned)
    throw new Error(`there were ${responses} responses, but ${stored} events are stored`)
  await server.end()
  return measured
}

function cells(
  { framework, store }: Setup,
  connections: number,
  { recorded, plain }: Rounds,
): string[] {
  const of = (answers: readonly LoadAnswer[], member: keyof LoadAnswer): number[] =>
    answers.map((answer) => answer[member])
  const latency = (member: 'p50' | 'p99'): string[] => {
    const [without, with_] = [of(plain, member), of(recorded, member)]
    const differences = with_.map((figure, i) => figure - without[i]!)
    return [without, with_, differences].map((figures) => withSpread(figures, milliseconds))
  }
  return [
    framework,
    storeTitles[store.store],
    String(connections),
    ...latency('p50'),
    ...latency('p99'),
    withSpread(of(recorded, 'perSecond'), whole),
    withSpread(ratios(of(recorded, 'perSecond'), of(plain, 'perSecond')), times),
  ]
}

const HEADS = [
  ...['framework', 'store', 'connections', 'p50, not recorded', 'p50, recorded', 'difference'],
  ...['p99, not recorded', 'p99, recorded', 'difference'],
  ...['requests/s, recorded', 'ratio to not recorded'],
]

export const measure = (options: TimedOptions): Promise<Section[]> =>
  withEachStore(async ({ sqlite, postgres }) => {
    const rows: string[][] = []
    const measureRows = async (setup: Setup, connections: readonly number[]): Promise<void> => {
      for (const [count, answers] of await measureService(setup, connections, options))
        rows.push(cells(setup, count, answers))
    }
    for (const store of [sqlite, postgres])
      await measureRows({ framework: MEASURED_FULLY, store }, CONNECTIONS)
    for (const framework of OTHERS)
      await measureRows({ framework, store: sqlite }, CONNECTIONS_OF_OTHERS)
    const text = [
      `${measuredOn(sqliteVersion(), 'Postgres')} \`POST\` of ${BODY.length} bytes of JSON to a route that`,
      'responds at once, on Koa behind @koa/bodyparser and @koa/router. With `recordRequests` the event is durable before the response is sent. The',
      `client is on the same machine. Medians [min–max] of ${options.rounds} rounds of ${options.seconds} s; differences and ratios`,
      'are taken within each round.',
      '',
      ...table(HEADS, rows),
    ].join('\n')
    return [{ name: 'requests', text }]
  })
