/*
 * What cleaning costs those who record meanwhile: half of the events are removed by age in several runs, while
 * the same process records 500 events a second:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/cleaning.ts \
 *     [--events 2000000] [--rounds 4] [--seconds 20] [--store sqlite|postgres|both] [--write]
 *
 * That tsconfig has `daybook` lead to the built package, as users get it. Each store has a process to itself.
 * In each round comes a stretch without cleaning, of so many seconds, and then one with it, for as
 * long as it takes; then all that was due has to be gone, and nothing else. Files go to the
 * system's folder for temporary files (TMPDIR), which should be on a disk; the server is one of our own,
 * as durable as Postgres is by default. `--write` puts the result into results.md.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startOwnPostgres } from '../../test/support/postgres.js'
import type { Answer, Latencies, Round, Setup } from '../targets/cleaning-process.js'
import {
  measuredCode,
  milliseconds,
  type Print,
  processor,
  row,
  short,
  sqliteVersion,
  times,
  whole,
  withSpread,
  writeSection,
} from '../harness/format.js'
import { Worker } from '../harness/workers.js'

type Size = Omit<Setup, 'place'>
type StoreName = Setup['place']['store']

const TITLES: { readonly [name in StoreName]: string } = { sqlite: 'SQLite', postgres: 'Postgres' }
const STORES: Readonly<Record<string, readonly StoreName[]>> = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
}

const megabytes: Print = (value) => `${whole(value / 1e6)} MB`

async function runTrial(setup: Setup): Promise<Answer> {
  console.error(`${TITLES[setup.place.store]}: filling`)
  const worker = await Worker.start<'run', Answer>('cleaning-process.ts', setup)
  console.error(`${TITLES[setup.place.store]}: cleaning`)
  const answer = await worker.ask('run')
  await worker.end()
  return answer
}

async function onSqlite(size: Size): Promise<Answer> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  try {
    return await runTrial({
      ...size,
      place: { store: 'sqlite', filename: path.join(folder, 'trial.db') },
    })
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function onPostgres(size: Size): Promise<Answer> {
  const server = await startOwnPostgres([
    ...['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'shared_buffers=512MB'],
    'max_wal_size=4GB',
  ])
  try {
    return await runTrial({ ...size, place: { store: 'postgres', url: server.url } })
  } finally {
    await server.stop()
  }
}

const RUNS = { sqlite: onSqlite, postgres: onPostgres }

function latencyCells(rounds: readonly Round[], figure: keyof Latencies): string[] {
  const cell = (of: (round: Round) => number, print: Print): string =>
    withSpread(rounds.map(of), print)
  return [
    cell(({ without }) => without[figure], milliseconds),
    cell(({ cleaning }) => cleaning[figure], milliseconds),
    cell(({ without, cleaning }) => cleaning[figure] / without[figure], times),
  ]
}

function table(title: string, answer: Answer): string[] {
  const { rounds } = answer
  const names: Readonly<Record<keyof Latencies, string>> = {
    p50: 'p50',
    p99: 'p99',
    max: 'longest',
  }
  const latencies = (Object.keys(names) as (keyof Latencies)[]).flatMap((figure) => {
    const cells = latencyCells(rounds, figure)
    return ['without', 'while cleaning', 'ratio'].map((kind, i) =>
      row(`\`record()\` ${names[figure]}, ${kind}`, cells[i]!),
    )
  })
  const seconds = rounds.map((round) => round.seconds)
  const speeds = rounds.map((round) => round.removed / round.seconds)
  const sizes = [answer.bytesBefore, answer.bytesAfter].map(megabytes)
  return [
    row('', title),
    row(':--', '--:'),
    ...latencies,
    row(
      'a run takes',
      withSpread(seconds, (value) => `${short(value)} s`),
    ),
    row('events removed a second', withSpread(speeds, whole)),
    row('size before, after', sizes.join(', ')),
  ]
}

async function report(size: Size, name: StoreName): Promise<string> {
  const code = measuredCode()
  const answer = await RUNS[name](size)
  const { events, rounds, seconds } = size
  const date = new Date().toISOString().slice(0, 10)
  return [
    `Measured ${date} on ${processor()}, ${sqliteVersion()}, Postgres: ${code}. ${whole(events)} events of about 640 bytes, of`,
    `which ${whole(events / 2)} are removed by \`maxAge\` in ${rounds} runs, while the same process records 500 events/s; a call counts`,
    'from the moment it was due. Median [least–greatest] of the rounds, each a stretch without cleaning of',
    `${seconds} s and one with it. What was removed was exactly what was due.`,
    '',
    ...table(TITLES[name], answer),
  ].join('\n')
}

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '2000000' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '20' },
    store: { type: 'string', default: 'both' },
    write: { type: 'boolean', default: false },
  },
})
const [events, rounds, seconds] = [
  Number(values.events),
  Number(values.rounds),
  Number(values.seconds),
]
const stores = STORES[values.store]
if (
  !Number.isInteger(rounds) ||
  rounds < 1 ||
  !Number.isInteger(events / 2 / rounds) ||
  events < 1 ||
  !(seconds > 0) ||
  !stores
)
  throw new Error(
    '--rounds must be a whole number from 1, --events a multiple of twice that, --seconds a number above 0, --store sqlite, postgres or both',
  )
for (const name of stores) {
  const text = await report({ events, rounds, seconds }, name)
  console.log(text)
  if (values.write) writeSection(`cleaning-${name}`, text)
}
