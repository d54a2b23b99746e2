/*
 * What `recordRequests` costs a mutating request, whose event is durable before it is answered:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/requests.ts [--rounds 5] [--seconds 3] [--write]
 *
 * That tsconfig has `daybook` lead to the built package, as users get it. Service and client are two
 * processes; with and without recording take turns. In the end an event has to be stored for each answer, and none
 * for others but those that the client has not waited for. The Postgres server is one of our own. `--write` puts the result into results.md.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startOwnPostgres } from '../../test/support/postgres.js'
import type { Answer as LoadAnswer, Job as LoadJob } from '../targets/http-client.js'
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
import type { Answer as ServerAnswer, Job as ServerJob } from '../targets/requests-server.js'
import { type Answers, takeTurns } from '../harness/rounds.js'
import { Worker } from '../harness/workers.js'

const CONNECTIONS = [1, 10, 100]
const HEADERS = { 'content-type': 'application/json' }
const BODY = JSON.stringify({
  name: 'nightly',
  description: 'Copies what has changed since yesterday',
  enabled: true,
  interval: { hours: 24 },
  labels: ['backup', 'north'],
})

const KINDS = ['recorded', 'plain'] as const

type Rounds = Answers<(typeof KINDS)[number], LoadAnswer>

/** By number of connections, the rounds on one store. */
async function measure(
  setup: StoreSetup,
  rounds: number,
  seconds: number,
): Promise<ReadonlyMap<number, Rounds>> {
  const server = await Worker.start<ServerJob, ServerAnswer>('requests-server.ts', setup)
  const client = await Worker.start<LoadJob, LoadAnswer>('http-client.ts', null)
  const urls = (await server.ask('urls')) as Exclude<ServerAnswer, number>
  const load = (url: string, connections: number): Promise<LoadAnswer> =>
    client.ask({ url, connections, seconds, method: 'POST', headers: HEADERS, body: BODY })

  let answered = 0
  let givenUp = 0
  const found = await takeTurns({
    cases: CONNECTIONS,
    sides: KINDS,
    rounds,
    isWarmedUp: true,
    async measure(connections, kind) {
      const answer = await load(urls[kind], connections)
      if (kind === 'recorded') {
        answered += answer.answered
        givenUp += connections
      }
      return answer
    },
    tell(connections, answers) {
      const figures = KINDS.map(
        (kind) =>
          `${kind} p50 ${milliseconds(answers[kind].p50)}, p99 ${milliseconds(answers[kind].p99)}`,
      )
      return `${setup.store}, ${connections} connections: ${figures.join('; ')}`
    },
  })
  await client.end()
  const stored = (await server.ask('end')) as number
  if (stored < answered || stored > answered + givenUp)
    throw new Error(`${answered} requests were answered, ${stored} events are stored`)
  await server.end()
  return found
}

function cells(store: StoreSetup, connections: number, { recorded, plain }: Rounds): string {
  const of = (answers: readonly LoadAnswer[], member: 'perSecond' | 'p50' | 'p99'): number[] =>
    answers.map((answer) => answer[member])
  const more = (member: 'p50' | 'p99'): number[] =>
    recorded.map((answer, i) => answer[member] - plain[i]![member])
  return row(
    storeNames[store.store],
    String(connections),
    withSpread(of(plain, 'p50'), milliseconds),
    withSpread(of(recorded, 'p50'), milliseconds),
    withSpread(more('p50'), milliseconds),
    withSpread(of(plain, 'p99'), milliseconds),
    withSpread(of(recorded, 'p99'), milliseconds),
    withSpread(more('p99'), milliseconds),
    withSpread(of(recorded, 'perSecond'), whole),
    withSpread(
      recorded.map(({ perSecond }, i) => perSecond / plain[i]!.perSecond),
      times,
    ),
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
    ]
    const rows: string[] = []
    for (const store of stores) {
      const found = await measure(store, rounds, seconds)
      for (const [connections, answers] of found) rows.push(cells(store, connections, answers))
    }
    const date = new Date().toISOString().slice(0, 10)
    return [
      `Measured ${date} on ${processor()}, ${sqliteVersion()}, Postgres: ${code}. \`POST\` of ${BODY.length} bytes of JSON to a route of`,
      '@koa/router that answers at once, behind @koa/bodyparser; with `recordRequests` the event is durable before the answer. The client is on the same',
      `machine. Median [least–greatest] of ${rounds} rounds of ${seconds} s; differences and ratios are taken within each round.`,
      '',
      row(
        'store',
        'connections',
        'p50, not recorded',
        'p50, recorded',
        'more',
        'p99, not recorded',
        'p99, recorded',
        'more',
        'requests/s, recorded',
        'to not recorded',
      ),
      row(':--', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:'),
      ...rows,
    ].join('\n')
  } finally {
    await postgres.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const { rounds, seconds, write } = readOptions({ rounds: 5, seconds: 3 })
const text = await report(rounds, seconds)
console.log(text)
if (write) writeSection('requests', text)
