/*
 * How many readers an event stream has room for, over sockets:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/streams.ts [--rounds 3] [--seconds 30] [--write]
 *
 * That tsconfig has `daybook` lead to the built package, as users get it. The service, which also
 * records, and its readers are two processes, new ones for each round. Every reader has to meet every
 * event once, in order. `--write` puts the result into results.md.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { readOptions } from '../harness/options.js'
import {
  measuredCode,
  milliseconds,
  percent,
  type Print,
  processor,
  row,
  sqliteVersion,
  whole,
  withSpread,
  writeSection,
} from '../harness/format.js'
import type { Answer as ClientAnswer, Job as ClientJob } from '../targets/streams-client.js'
import type {
  Answer as ServerAnswer,
  Job as ServerJob,
  Recorded,
} from '../targets/streams-server.js'
import { Worker } from '../harness/workers.js'

const READERS = 500
const PER_SECOND = 1000
const FIRST = 1_000_000
const FINISH_SECONDS = 120

const KINDS = [
  { title: `${READERS} readers`, readers: READERS, slow: 0 },
  { title: `the same, and 10 slow ones`, readers: READERS + 10, slow: 10 },
] as const

type Kind = (typeof KINDS)[number]

type Round = Recorded & { readonly reading: ClientAnswer }

async function measure({ readers, slow }: Kind, seconds: number): Promise<Round> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  const filename = path.join(folder, 'trial.db')
  try {
    const server = await Worker.start<ServerJob, ServerAnswer>('streams-server.ts', filename, [
      '--expose-gc',
    ])
    const url = (await server.ask('listen')) as string
    const client = await Worker.start<ClientJob, ClientAnswer>('streams-client.ts', null)
    await client.ask({ open: { url, readers, slow, first: FIRST } })
    const record = { first: FIRST, perSecond: PER_SECOND, seconds }
    const recorded = (await server.ask({ record })) as Recorded
    const finish = { last: recorded.last, withinSeconds: FINISH_SECONDS }
    const reading = await client.ask({ finish })
    await client.end()
    await server.end()
    return { ...recorded, reading }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const mebibytes: Print = (value) => `${whole(value)} MiB`

interface Figure {
  readonly title: string
  readonly print: Print
  of(round: Round): number
}

const FIGURES: readonly Figure[] = [
  { title: 'events not met by a reader', print: whole, of: ({ reading }) => reading.missed },
  { title: 'events met twice or too late', print: whole, of: ({ reading }) => reading.repeated },
  {
    title: 'from `record` to a reader, p50',
    print: milliseconds,
    of: ({ reading }) => reading.p50,
  },
  { title: 'p99', print: milliseconds, of: ({ reading }) => reading.p99 },
  { title: 'longest', print: milliseconds, of: ({ reading }) => reading.longest },
  { title: 'memory of the service, idle', print: mebibytes, of: ({ idle }) => idle },
  { title: 'the most above idle', print: mebibytes, of: ({ idle, most }) => most - idle },
  { title: 'processor time of the service, of one core', print: percent, of: ({ cpu }) => cpu },
  { title: 'and of all readers', print: percent, of: ({ reading }) => reading.cpu },
  { title: 'MB received', print: whole, of: ({ reading }) => reading.megabytes },
]

async function report(rounds: number, seconds: number): Promise<string> {
  const code = measuredCode()
  const found = new Map<Kind, Round[]>(KINDS.map((kind) => [kind, []]))
  for (let round = 1; round <= rounds; round++)
    for (const [kind, all] of found) {
      const one = await measure(kind, seconds)
      all.push(one)
      const figures = FIGURES.map(({ title, print, of }) => `${title}: ${print(of(one))}`)
      console.error(`round ${round} of ${rounds}, ${kind.title}: ${figures.join('; ')}`)
      if (one.reading.missed + one.reading.repeated > 0)
        throw new Error('a reader has not met every event once')
    }
  const date = new Date().toISOString().slice(0, 10)
  return [
    `Measured ${date} on ${processor()}, ${sqliteVersion()}: ${code}. A Koa service on SQLite records ${whole(PER_SECOND)} events/s of`,
    `some 60 bytes of attributes for ${seconds} s; readers of \`GET /api/events/stream\` are on the same machine. A slow reader takes at most 64 KiB a`,
    `second until all is recorded. Median [least–greatest] of ${rounds} rounds.`,
    '',
    row('', ...KINDS.map(({ title }) => title)),
    row(':--', ...KINDS.map(() => '--:')),
    ...FIGURES.map(({ title, print, of }) =>
      row(title, ...[...found.values()].map((all) => withSpread(all.map(of), print))),
    ),
  ].join('\n')
}

const { rounds, seconds, write } = readOptions({ rounds: 3, seconds: 30 })
const text = await report(rounds, seconds)
console.log(text)
if (write) writeSection('streams', text)
