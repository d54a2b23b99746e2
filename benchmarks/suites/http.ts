/*
 * How fast the event feed is read over HTTP, beside a route of the same service that sends the same
 * bytes and headers from memory:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/http.ts [--rounds 5] [--seconds 3] [--write]
 *
 * That tsconfig has `daybook` lead to the built package, as users get it. Service and client are two
 * processes. Before each round an event is added and the answer is checked. Where all ask the same, those
 * who ask in one turn of the event loop share an answer; so it is told how many had one of their own. The
 * Postgres server is one of our own. `--write` puts the result into results.md.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startOwnPostgres } from '../../test/support/postgres.js'
import { aimFor, ratios, type Row, rowOf, tell } from '../harness/results.js'
import { type CaseName, CASES, type HttpCase } from '../targets/http-cases.js'
import type { Answer as LoadAnswer, Job as LoadJob } from '../targets/http-client.js'
import type { Answer as ServerAnswer, Job as ServerJob, Setup } from '../targets/http-server.js'
import { storeNames, type StoreSetup } from '../harness/open-store.js'
import { readOptions } from '../harness/options.js'
import {
  measuredCode,
  milliseconds,
  processor,
  row,
  sqliteVersion,
  times,
  whole,
  withSpread,
  writeSection,
} from '../harness/format.js'
import { type Answers, takeTurns } from '../harness/rounds.js'
import { Worker } from '../harness/workers.js'

const EVENTS = 100_000
const HEADERS = { authorization: `Basic ${Buffer.from('ann:ann').toString('base64')}` }

const TITLES: { readonly [name in CaseName]: string } = {
  newest10: '`limit=10`',
  paged10: '`limit=10`, each request another `created_at_lt`',
  newest100: '`limit=100`',
  newest1000: '`limit=1000`',
  filtered: '`limit=10`, three conditions',
}

const cases = Object.keys(CASES) as CaseName[]

interface Read extends LoadAnswer {
  /** Of the answers, how large a part the store was asked for. */
  readonly asked: number
}

type Rounds = Answers<'feed' | 'prepared', Read>

type Load = Worker<LoadJob, LoadAnswer>
type Server = Worker<ServerJob, ServerAnswer>

/** By case, the rounds on one store. */
async function measure(
  setup: StoreSetup,
  names: readonly CaseName[],
  rounds: number,
  seconds: number,
): Promise<ReadonlyMap<CaseName, Rounds>> {
  const server: Server = await Worker.start('http-server.ts', {
    store: setup,
    events: EVENTS,
  } satisfies Setup)
  const client: Load = await Worker.start('http-client.ts', null)
  const load = (url: string, connections: number, isNumbered = false): Promise<LoadAnswer> =>
    client.ask({ url, connections, isNumbered, seconds, method: 'GET', headers: HEADERS })

  let url = ''
  const measureOf = {
    async feed(name) {
      const { query, connections, isNumbered }: HttpCase = CASES[name]
      const answer = await load(`${url}/api/events?${query}`, connections, isNumbered)
      const asked = (await server.ask('count')) as number
      if (isNumbered && asked < answer.answered)
        throw new Error(`${answer.answered} answers, for ${asked} of which the store was asked`)
      return { ...answer, asked: asked / answer.answered }
    },
    prepared: async (name) => ({
      ...(await load(`${url}/prepared/${name}`, CASES[name].connections)),
      asked: 0,
    }),
  } satisfies Readonly<Record<string, (name: CaseName) => Promise<Read>>>

  const found = await takeTurns<CaseName, keyof typeof measureOf, Read>({
    cases: names,
    sides: ['feed', 'prepared'],
    rounds,
    isWarmedUp: true,
    async prepare(name) {
      url = (await server.ask({ prepare: name })) as string
    },
    measure: (name, side) => measureOf[side](name),
    tell: (name, { feed, prepared }) =>
      `${setup.store}, ${name}: ${whole(feed.perSecond)} of ${whole(prepared.perSecond)}`,
  })
  await client.end()
  await server.end()
  return found
}

function cells(name: CaseName, store: StoreSetup, { feed, prepared }: Rounds): string {
  const of = (answers: readonly LoadAnswer[], member: 'perSecond' | 'p50' | 'p99'): number[] =>
    answers.map((answer) => answer[member])
  const parts = feed.map(({ asked }) => Math.min(asked, 1))
  return row(
    TITLES[name],
    storeNames[store.store],
    String(CASES[name].connections),
    withSpread(of(feed, 'perSecond'), whole),
    withSpread(of(prepared, 'perSecond'), whole),
    withSpread(
      feed.map(({ perSecond }, i) => perSecond / prepared[i]!.perSecond),
      times,
    ),
    withSpread(parts, times),
    withSpread(of(feed, 'p50'), milliseconds),
    withSpread(of(feed, 'p99'), milliseconds),
    withSpread(of(prepared, 'p99'), milliseconds),
  )
}

async function report(rounds: number, seconds: number): Promise<string> {
  const code = measuredCode()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  const postgres = await startOwnPostgres(['fsync=on', 'synchronous_commit=on'])
  try {
    const stores: readonly StoreSetup[] = [
      { store: 'sqlite', filename: path.join(folder, 'trial.db') },
      { store: 'postgres', url: postgres.url },
      { store: 'memory' },
    ]
    const rows: string[] = []
    for (const store of stores) {
      const found = await measure(store, cases, rounds, seconds)
      for (const [name, answers] of found) rows.push(cells(name, store, answers))
    }
    const date = new Date().toISOString().slice(0, 10)
    return [
      `Measured ${date} on ${processor()}, ${sqliteVersion()}, Postgres: ${code}. \`GET /api/events\` of a Koa service with`,
      `\`recordRequests\` and \`basicAuth\`, ${whole(EVENTS)} events of about 640 bytes, the client on the same machine;`,
      'beside it a route of @koa/router in the same service that sends the same headers and bytes, prepared. Requests for the same that come in one turn of the event loop share a read of the store: of how many answers the store was asked is told too. Median',
      `[least–greatest] of ${rounds} rounds of ${seconds} s; ratios are taken within each round.`,
      '',
      row(
        'query',
        'store',
        'connections',
        'answers/s',
        'prepared, answers/s',
        'to prepared',
        'reads to answers',
        'p50',
        'p99',
        'prepared, p99',
      ),
      row(':--', ':--', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:'),
      ...rows,
    ].join('\n')
  } finally {
    await postgres.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** For benchmarks/results.md: on SQLite alone, what is aimed at. */
const AIMS: Partial<Record<CaseName, number>> = { paged10: 0.5, newest10: 0.5, newest1000: 0.4 }

async function aimedRows(rounds: number, seconds: number): Promise<Row[]> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  try {
    const store = { store: 'sqlite', filename: path.join(folder, 'trial.db') } as const
    const names = Object.keys(AIMS) as CaseName[]
    const found = await measure(store, names, rounds, seconds)
    return [...found].map(([name, { feed, prepared }]) => {
      const rate = (answers: readonly LoadAnswer[]): number[] =>
        answers.map(({ perSecond }) => perSecond)
      const ratio = ratios(rate(feed), rate(prepared))
      return rowOf({
        group: `\`GET /api/events\` on SQLite, beside a prepared body of the same size, ${whole(EVENTS)} events`,
        name: `${TITLES[name]}, ${CASES[name].connections} connections`,
        daybook: rate(feed),
        reference: { figures: rate(prepared) },
        ratio,
        print: (value) => `${whole(value)}/s`,
        aims: [aimFor('atLeast', AIMS[name]!, ratio)],
      })
    })
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const { rounds, seconds, write, rows } = readOptions({ rounds: 5, seconds: 3 })
if (rows === undefined) {
  const text = await report(rounds, seconds)
  console.log(text)
  if (write) writeSection('http', text)
} else tell(await aimedRows(rounds, seconds), rows)
