import path from 'node:path'
import { milliseconds, percent, type Print, table, whole, withSpread } from '../harness/format.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import type { TimedOptions } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { runRounds } from '../harness/rounds.js'
import { withTempFolder } from '../harness/temp.js'
import { Worker } from '../harness/workers.js'
import type { Answer as ClientAnswer, Job as ClientJob } from '../targets/streams-client.js'
import type {
  Answer as ServerAnswer,
  Job as ServerJob,
  Recorded,
} from '../targets/streams-server.js'

/*
 * Many readers of one event stream over sockets. The service, which also records, and its readers are
 * two processes, new ones in each round. Every reader must receive every event once, in order.
 */

const READERS = 500
const PER_SECOND = 1000
const FIRST = 1_000_000
const FINISH_SECONDS = 120

const CASES = [
  { title: `${READERS} readers`, readers: READERS, slow: 0 },
  { title: `${READERS} readers and 10 slow ones`, readers: READERS + 10, slow: 10 },
] as const

type Case = (typeof CASES)[number]

type Round = Recorded & { readonly reading: ClientAnswer }

const runTrial = ({ readers, slow }: Case, seconds: number): Promise<Round> =>
  withTempFolder(async (folder) => {
    const filename = path.join(folder, 'trial.db')
    const flags = ['--expose-gc']
    const server = await Worker.start<ServerJob, ServerAnswer>('streams-server.ts', filename, flags)
    const url = (await server.ask('listen')) as string
    const client = await Worker.start<ClientJob, ClientAnswer>('streams-client.ts', null)
    await client.ask({ open: { url, readers, slow, first: FIRST } })
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

const mebibytes: Print = (value) => `${whole(value)} MiB`

interface Figure {
  readonly title: string
  readonly print: Print
  of(round: Round): number
}

const FIGURES: readonly Figure[] = [
  { title: 'events that a reader missed', print: whole, of: ({ reading }) => reading.missed },
  {
    title: 'events that came twice or too late',
    print: whole,
    of: ({ reading }) => reading.repeated,
  },
  {
    title: 'from `record` to a reader, p50',
    print: milliseconds,
    of: ({ reading }) => reading.p50,
  },
  { title: 'p99', print: milliseconds, of: ({ reading }) => reading.p99 },
  { title: 'max', print: milliseconds, of: ({ reading }) => reading.max },
  { title: 'memory of the service, idle', print: mebibytes, of: ({ idle }) => idle },
  { title: 'peak above idle', print: mebibytes, of: ({ idle, peak }) => peak - idle },
  { title: 'processor time of the service, of one core', print: percent, of: ({ cpu }) => cpu },
  {
    title: 'processor time of all readers, of one core',
    print: percent,
    of: ({ reading }) => reading.cpu,
  },
  { title: 'MB received', print: whole, of: ({ reading }) => reading.megabytes },
]

export async function measure({ rounds, seconds }: TimedOptions): Promise<Section[]> {
  const measured = await runRounds<Case, 'all', Round>({
    cases: CASES,
    sides: ['all'],
    rounds,
    measure: (one) => runTrial(one, seconds),
    describe: ({ title }, { all }) =>
      `${title}: ${FIGURES.map((figure) => `${figure.title}: ${figure.print(figure.of(all))}`).join('; ')}`,
  })
  const results = [...measured.values()].map(({ all }) => all)
  const text = [
    `${measuredOn(sqliteVersion())} A Koa service on SQLite records ${whole(PER_SECOND)} events/s with about 60 bytes of`,
    `attributes for ${seconds} s. Readers of \`GET /api/events/stream\` are on the same machine. A slow reader takes at most 64 KiB`,
    `per second until all events are recorded. Medians [min–max] of ${rounds} rounds.`,
    '',
    ...table(
      ['', ...CASES.map(({ title }) => title)],
      FIGURES.map(({ title, print, of }) => [
        title,
        ...results.map((all) => withSpread(all.map(of), print)),
      ]),
    ),
  ].join('\n')
  return [{ name: 'streams', text }]
}
