import fs from 'node:fs'
import path from 'node:path'
import { median, quantile } from 'simple-statistics'
import { startKeptPostgres } from '../../test/support/postgres.js'
import { milliseconds, perSecond, type Print, short, table, whole } from '../harness/format.js'
import { measuredOn } from '../harness/machine.js'
import { UsageError } from '../harness/options.js'
import { SETTINGS } from '../harness/postgres-server.js'
import { queriesOf, QUERY_CASES } from '../harness/query-cases.js'
import type { QueryAnswer, QueryJob, QuerySetup } from '../harness/query-target.js'
import type { Section } from '../harness/results.js'
import { Worker } from '../harness/workers.js'
import type { CountAnswer, CountJob } from '../targets/count-process.js'
import {
  type Level,
  readLevels,
  readSamples,
  readSize,
  type Size,
  STATEMENT_SETTINGS,
  vacuum,
  type Vacuumed,
} from '../targets/large-figures.js'
import {
  ageOf,
  DAYS,
  databaseOf,
  createDatabase,
  type Growth,
  type LargeLog,
  openLargeLog,
} from '../targets/large-log.js'
import { makeEmptyLog, measurePlans, PLANNED, type Plans } from '../targets/large-plans.js'
import { type Answer, type Cleaned, type Delays, MAX_DELAY_MS } from '../targets/large-load.js'
import { COUNT_CASES } from './counts.js'

/*
 * How a log on Postgres grows with its events: logs of several sizes with a partition for each of 240 days, or one log that
 * grows by days to several sizes. The logs are kept, so that a large one can be filled in several runs.
 */

interface Options {
  readonly sizes: readonly number[]
  readonly logs: 'separate' | 'one'
  readonly folder: string
  readonly seconds: number
  readonly days: number
  readonly part: 'fill' | 'growth' | 'removal' | 'all'
}

interface Figure {
  readonly value: number
  readonly print: Print
  readonly note?: string
  /** The value of a larger log, with the figure of this one and of a smaller one. @default that of this one */
  readonly grows?: boolean
}

/** Figures of one log, by the titles of the rows. */
type Figures = ReadonlyMap<string, Figure>

const fact = (value: number, print: Print, note = ''): Figure => ({ value, print, note })
const growing = (value: number, print: Print, note = ''): Figure => ({
  ...fact(value, print, note),
  grows: true,
})
const textOf = ({ value, print, note }: Figure): string => print(value) + (note ? `, ${note}` : '')

const EXTRAPOLATED = 1e9

/** The figure of a log of 10^9 events if it goes on growing by the same power of the size. */
function extrapolate(
  [smaller, larger]: readonly [Figure, Figure],
  [few, many]: readonly [number, number],
): string {
  const { value, print, grows } = larger
  if (!grows) return print(value)
  if (smaller.value <= 0) return ''
  const power = Math.max(0, Math.log(value / smaller.value) / Math.log(many / few))
  return print(value * (EXTRAPOLATED / many) ** power)
}

const QUERIES = 30
const QUERY_SECONDS = 2
/** A large log is counted exactly once a process has counted all of its segments, some with each call. */
const COUNTS = 15

async function queryFigures(log: LargeLog): Promise<Figures> {
  const material = { events: log.events, samples: await readSamples(log.url) }
  const store = { store: 'postgres', url: log.url, hasServerTime: true } as const
  const setup: QuerySetup = { side: 'daybook', store }
  const target = await Worker.start<QueryJob, QueryAnswer>('query-process.ts', setup)
  const figures = new Map<string, Figure>()
  for (const one of QUERY_CASES) {
    const answer = await target.ask({
      queries: queriesOf(one, material, QUERIES, 1),
      warmUp: queriesOf(one, material, QUERIES, 2),
      maxSeconds: QUERY_SECONDS,
    })
    const times = [...answer.milliseconds]
    const note = `p99 ${milliseconds(quantile(times, 0.99))}`
    figures.set(one.name, growing(median(times), milliseconds, note))
    console.error(`${whole(log.events)}, ${one.name}: ${textOf(figures.get(one.name)!)}`)
  }
  await target.end()
  return figures
}

function exactnessOf({ exact }: CountAnswer): string {
  const inexact = exact.lastIndexOf(false) + 1
  if (inexact === 0) return ''
  return inexact === exact.length ? ', lower bounds' : `, exact after ${inexact} counts`
}

async function countFigures(log: LargeLog): Promise<Figures> {
  const figures = new Map<string, Figure>()
  for (const { name, filter, options } of COUNT_CASES) {
    const setup = { store: 'postgres', url: log.url, hasServerTime: true } as const
    const worker = await Worker.start<CountJob, CountAnswer>('count-process.ts', setup)
    const answer = await worker.ask({ filter, options, times: COUNTS })
    await worker.end()
    const [first, ...later] = answer.milliseconds
    const note = `the first ${milliseconds(first!)}${exactnessOf(answer)}`
    figures.set(name, growing(median(later), milliseconds, note))
    console.error(`${whole(log.events)}, ${name}: ${textOf(figures.get(name)!)}`)
  }
  return figures
}

const bytes: Print = (value) => `${whole(value)} B`
const gigabytes: Print = (value) => `${short(value / 1e9)} GB`
const seconds: Print = (value) => `${short(value)} s`

function sizeFigures({ events, jsonBytes }: LargeLog, size: Size): Figures {
  const total = size.events + size.eventIndexes + size.attributeIndex
  return new Map([
    ['partitions', fact(size.partitions, whole)],
    ['JSON text of the attributes, for each event', fact(jsonBytes / events, bytes)],
    ['rows of the events', fact(size.events / events, bytes)],
    ['their primary keys', fact(size.eventIndexes / events, bytes)],
    ['index of the attributes', fact(size.attributeIndex / events, bytes)],
    ['all of the log, for each event', fact(total / events, bytes)],
    ['all of the log', growing(total, gigabytes)],
  ])
}

/** Names of levels of segments. */
const LEVELS = ['sealed', 'merged once', 'merged twice'] as const

/** The rates of the first and the last million, or of the first and the last half. */
function buildFigures({ events, chunks }: LargeLog, levels: readonly Level[]): Figures {
  const rateOf = (some: readonly number[]): number =>
    ((events / chunks.length) * some.length) / some.reduce((sum, one) => sum + one, 0)
  const count = Math.max(1, Math.min(10, Math.floor(chunks.length / 2)))
  return new Map([
    ['import, the first events', fact(rateOf(chunks.slice(0, count)), perSecond)],
    ['import, the last events', fact(rateOf(chunks.slice(-count)), perSecond)],
    ...LEVELS.map((name, level): [string, Figure] => {
      const found = levels.find((one) => one.level === level)
      const note = found ? `with ${whole(found.events)} events` : ''
      const figure = level === LEVELS.length - 1 ? growing : fact
      return [`segments, ${name}`, figure(found?.segments ?? 0, whole, note)]
    }),
  ])
}

const vacuumFigure = ({ dead, autovacuums, seconds: took }: Vacuumed): Figure =>
  growing(took, seconds, `${whole(dead)} dead rows, ${autovacuums} runs of autovacuum before`)

async function vacuumFigures({ url }: LargeLog): Promise<Figures> {
  return new Map([
    ['`VACUUM (ANALYZE)` of the partitions', vacuumFigure(await vacuum(url, 'events_%'))],
    ['the same again', vacuumFigure(await vacuum(url, 'events_%'))],
    ['`VACUUM (ANALYZE)` of the index', vacuumFigure(await vacuum(url, 'segment_chunks'))],
  ])
}

async function logFigures(log: LargeLog): Promise<Figures> {
  const levels = await readLevels(log.url)
  return new Map([
    ...sizeFigures(log, await readSize(log.url)),
    ...buildFigures(log, levels),
    ...(await vacuumFigures(log)),
    ...(await queryFigures(log)),
    ...(await countFigures(log)),
  ])
}

/** A column for each log, and one for 10^9 events that follows from the last two. */
function growthTable(logs: readonly (readonly [LargeLog, Figures])[]): string[] {
  const [before, last] = logs.slice(-2)
  const heads = logs.map(([{ events }]) => `${whole(events)} events`)
  const rows = [...logs[0]![1].keys()].map((name) => [
    name,
    ...logs.map(([, figures]) => textOf(figures.get(name)!)),
    ...(before && last
      ? [
          extrapolate(
            [before[1].get(name)!, last[1].get(name)!],
            [before[0].events, last[0].events],
          ),
        ]
      : []),
  ])
  return table(['', ...heads, ...(before && last ? ['10^9, extrapolated'] : [])], rows)
}

type Texts = ReadonlyMap<string, string>

/** A table with a column for each of the named texts. */
function tableOf(title: string, columns: readonly (readonly [string, Texts])[]): string[] {
  const rows = [...columns[0]![1].keys()].map((name) => [
    name,
    ...columns.map(([, texts]) => texts.get(name)!),
  ])
  return table([title, ...columns.map(([name]) => name)], rows)
}

async function plansOf(url: string, partitions: 'day' | 'none'): Promise<Plans> {
  const empty = databaseOf(url, `empty_${partitions}`)
  if (await createDatabase(url, `empty_${partitions}`)) await makeEmptyLog(empty, partitions)
  return measurePlans(empty)
}

async function planTable(url: string, logs: readonly LargeLog[]): Promise<string[]> {
  const columns: (readonly [string, Plans])[] = [
    ['no events, no partitions', await plansOf(url, 'none')],
    [`no events, ${DAYS} partitions`, await plansOf(url, 'day')],
  ]
  for (const log of logs)
    columns.push([`${whole(log.events)} events, ${log.days} days`, await measurePlans(log.url)])
  const cell = ({ plan, run }: Plans['total']): string =>
    `${milliseconds(plan)} + ${milliseconds(run)}`
  const figures = columns.map(
    ([name, plans]) => [name, new Map(PLANNED.map((call) => [call, cell(plans[call])]))] as const,
  )
  return tableOf('planning + execution of a call in the server', figures)
}

const loadFigures = (name: string, { calls, p50, p99, max, over }: Delays): [string, string] => [
  name,
  `${milliseconds(p50)}, p99 ${milliseconds(p99)}, slowest ${milliseconds(max)}; ${over} of ${whole(calls)} over ${MAX_DELAY_MS} ms`,
]

const BASE_SECONDS = 10

/** Drops partitions of the log, with an archive or without one, while another process records and lists. */
async function measureRemoval(
  { url }: LargeLog,
  days: number,
  directory: string | undefined,
): Promise<Texts> {
  const load = await Worker.start<unknown, Answer>('large-load-process.ts', { url })
  const idle = await load.ask(BASE_SECONDS)
  const cleaning = { days, ...(directory !== undefined && { directory }) }
  const cleaner = await Worker.start<'clean', Cleaned>('large-load-process.ts', { url, cleaning })
  await load.ask('begin')
  const cleaned = await cleaner.ask('clean')
  const busy = await load.ask('end')
  await cleaner.end()
  await load.end()
  if (cleaned.error !== undefined) throw new Error(cleaned.error)
  return new Map([
    loadFigures('`record()`, without a run', idle.record),
    loadFigures('`record()`, during the run', busy.record),
    loadFigures('list, without a run', idle.list),
    loadFigures('list, during the run', busy.list),
    ['removed events', `${whole(cleaned.removed)} in ${short(cleaned.seconds)} s`],
    ['archived events', whole(cleaned.archived)],
  ])
}

async function removalTable(log: LargeLog, days: number, folder: string): Promise<string[]> {
  const directory = path.join(folder, 'archive')
  fs.rmSync(directory, { recursive: true, force: true })
  const archived = await measureRemoval(log, ageOf(log) - days, directory)
  const dropped = await measureRemoval(log, ageOf(log) - 2 * days, undefined)
  fs.rmSync(directory, { recursive: true, force: true })
  return tableOf(`${days} partitions of ${whole(log.events)} events`, [
    ['archived, then dropped', archived],
    ['dropped', dropped],
  ])
}

const SECTION = { separate: 'large', one: 'large-one' } as const
const SPREAD = {
  separate: `Each log has a partition for each of ${DAYS} days.`,
  one: `The log grew from size to size: it has a partition a day, and as many events a day at each size.`,
} as const

/** `columns` are the logs with their figures; the plans are measured of those that are still as large. */
async function growthSection(
  url: string,
  columns: readonly (readonly [LargeLog, Figures])[],
  logs: Options['logs'],
): Promise<Section> {
  const planned = columns.slice(logs === 'one' ? -1 : 0).map(([log]) => log)
  const text = [
    `${measuredOn('Postgres')} Sample events of about 640 bytes were imported while another process built the index.`,
    `${SPREAD[logs]} Queries and counts are medians of a process that has made such calls before. The last column is an`,
    'extrapolation: what grows is assumed to go on growing by the same power of the number of events.',
    '',
    ...growthTable(columns),
    '',
    ...(await planTable(url, planned)),
  ].join('\n')
  return { name: SECTION[logs], text }
}

async function removalSection(
  log: LargeLog,
  days: number,
  folder: string,
  logs: Options['logs'],
): Promise<Section> {
  const text = [
    `${measuredOn('Postgres')} A process records 200 events/s and makes 50 lists/s of the 10 newest events, while another one removes the`,
    'oldest days. A call is measured from the moment it was due.',
    '',
    ...(await removalTable(log, days, folder)),
  ].join('\n')
  return { name: `${SECTION[logs]}-removal`, text }
}

/** The sizes of each log. */
function growthsOf(sizes: readonly number[], logs: Options['logs']): readonly Growth[] {
  const ascending = sizes.toSorted((a, b) => a - b)
  return logs === 'one' ? [ascending as unknown as Growth] : ascending.map((size): Growth => [size])
}

export async function measure({
  sizes,
  logs,
  folder,
  seconds: limit,
  days,
  part,
}: Options): Promise<Section[]> {
  if (folder === '') throw new UsageError('large needs --folder')
  const server = await startKeptPostgres(folder, [...SETTINGS, ...STATEMENT_SETTINGS])
  const end = performance.now() + limit * 1000
  const measuresGrowth = part === 'growth' || part === 'all'
  try {
    const columns: (readonly [LargeLog, Figures])[] = []
    for (const growth of growthsOf(sizes, logs))
      for (const events of growth) {
        const left = (end - performance.now()) / 1000
        const log = await openLargeLog({ url: server.url, folder }, growth, events, left)
        if (log === 'outgrown') {
          console.error(`the log has more than ${whole(events)} events: not measured`)
          continue
        }
        if (log === 'incomplete')
          throw new UsageError(`the log of ${whole(events)} events is not complete; run this again`)
        columns.push([log, measuresGrowth ? await logFigures(log) : new Map()])
        // A log that has grown cannot be measured again.
        if (measuresGrowth) console.error(growthTable(columns).join('\n'))
      }
    const largest = columns.at(-1)
    if (!largest) throw new UsageError('the log has outgrown all of the sizes')
    const sections: Section[] = []
    if (measuresGrowth) sections.push(await growthSection(server.url, columns, logs))
    if (part === 'removal' || part === 'all')
      sections.push(await removalSection(largest[0], days, folder, logs))
    return sections
  } finally {
    await server.stop()
  }
}
