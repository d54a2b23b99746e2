import {
  milliseconds,
  perSecond,
  ratios,
  table,
  times,
  whole,
  withSpread,
} from '../harness/format.js'
import { AUTHORIZATION } from '../harness/listen.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import { storeTitles, type StoreSetup, withEachStore } from '../harness/open-store.js'
import type { TimedOptions } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import { Worker } from '../harness/workers.js'
import { CASE_NAMES, type CaseName, CASES, type HttpCase } from '../targets/http-cases.js'
import type { Answer as LoadAnswer, Job as LoadJob } from '../targets/http-client.js'
import type { Answer as ServerAnswer, Job as ServerJob, Setup } from '../targets/http-server.js'

/*
 * The event feed on each store, compared with a route of the same service that sends the same bytes and
 * headers from memory. Service and client are two processes. Before each round an event is recorded and
 * the response is checked.
 */

export const EVENTS = 100_000
const HEADERS = { authorization: AUTHORIZATION }

interface Load extends LoadAnswer {
  /** Reads of the store per response. */
  readonly reads: number
}

/** `raw`: handwritten SQLite and concatenation in a route, only beside the store of SQLite. */
export type Side = 'feed' | 'prepared' | 'raw'
export type Rounds<Name extends Side> = Answers<Name, Load>

interface Measured<Name extends Side> {
  readonly store: StoreSetup
  readonly names: readonly CaseName[]
  readonly sides: readonly Name[]
}

/** By case, the rounds on one store. */
export async function measureFeed<Name extends Side>(
  { store, names, sides }: Measured<Name>,
  { rounds, seconds }: TimedOptions,
): Promise<ReadonlyMap<CaseName, Rounds<Name>>> {
  const setup: Setup = { store, events: EVENTS }
  const server = await Worker.start<ServerJob, ServerAnswer>('http-server.ts', setup)
  const client = await Worker.start<LoadJob, LoadAnswer>('http-client.ts', null)
  const load = (url: string, connections: number, isNumbered = false): Promise<LoadAnswer> =>
    client.ask({ url, connections, isNumbered, seconds, method: 'GET', headers: HEADERS })

  let url = ''
  const measures: Readonly<Record<Side, (name: CaseName) => Promise<Load>>> = {
    async feed(name) {
      const { query, connections, isNumbered }: HttpCase = CASES[name]
      const answer = await load(`${url}/api/events?${query}`, connections, isNumbered)
      const reads = (await server.ask('countReads')) as number
      if (isNumbered && reads < answer.responses)
        throw new Error(`${answer.responses} different responses took ${reads} reads of the store`)
      return { ...answer, reads: reads / answer.responses }
    },
    async prepared(name) {
      const answer = await load(`${url}/prepared/${name}`, CASES[name].connections)
      return { ...answer, reads: 0 }
    },
    async raw(name) {
      const { query, connections, isNumbered }: HttpCase = CASES[name]
      const answer = await load(`${url}/raw/${name}?${query}`, connections, isNumbered)
      return { ...answer, reads: 1 }
    },
  }
  const measured = await runRounds<CaseName, Name, Load>({
    cases: names,
    sides,
    rounds,
    warmUp: true,
    async prepare(name) {
      url = (await server.ask({ prepare: name })) as string
    },
    measure: (name, side) => measures[side](name),
    describe: (name, loads) =>
      `${store.store}, ${name}: ${sides.map((side) => `${side} ${perSecond(loads[side].perSecond)}`).join(', ')}`,
  })
  await client.end()
  await server.end()
  return measured
}

const SIDES = ['feed', 'prepared'] as const

function cells(
  name: CaseName,
  store: StoreSetup,
  { feed, prepared }: Rounds<(typeof SIDES)[number]>,
): string[] {
  const of = (answers: readonly Load[], member: keyof Load): number[] =>
    answers.map((answer) => answer[member])
  const reads = feed.map((answer) => Math.min(answer.reads, 1))
  return [
    CASES[name].title,
    storeTitles[store.store],
    String(CASES[name].connections),
    withSpread(of(feed, 'perSecond'), whole),
    withSpread(of(prepared, 'perSecond'), whole),
    withSpread(ratios(of(feed, 'perSecond'), of(prepared, 'perSecond')), times),
    withSpread(reads, times),
    withSpread(of(feed, 'p50'), milliseconds),
    withSpread(of(feed, 'p99'), milliseconds),
    withSpread(of(prepared, 'p99'), milliseconds),
  ]
}

const HEADS = [
  ...['query', 'store', 'connections', 'responses/s', 'prepared, responses/s'],
  ...['ratio to prepared', 'reads per response', 'p50', 'p99', 'prepared, p99'],
]

export const measure = (options: TimedOptions): Promise<Section[]> =>
  withEachStore(async ({ sqlite, postgres, memory }) => {
    const rows: string[][] = []
    for (const store of [sqlite, postgres, memory]) {
      const measured = await measureFeed({ store, names: CASE_NAMES, sides: SIDES }, options)
      for (const [name, rounds] of measured) rows.push(cells(name, store, rounds))
    }
    const text = [
      `${measuredOn(sqliteVersion(), 'Postgres')} \`GET /api/events\` of a Koa service with \`recordRequests\` and`,
      `\`basicAuth\`, ${whole(EVENTS)} events of about 640 bytes, the client on the same machine, compared with a route of`,
      '@koa/router in the same service that sends the same headers and bytes, prepared. Identical requests that arrive in',
      'one turn of the event loop share a read of the store; the table shows the reads per response. Medians [min–max] of',
      `${options.rounds} rounds of ${options.seconds} s; ratios are taken within each round.`,
      '',
      ...table(HEADS, rows, 2),
    ].join('\n')
    return [{ name: 'http-stores', text }]
  })
