import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { median } from 'simple-statistics'
import { mediansOf, type Times } from '../harness/compare.js'
import { milliseconds, type Print, whole } from '../harness/format.js'
import { SIZES } from '../harness/options.js'
import type { Query } from '../harness/query.js'
import { queriesOf, QUERY_CASES, type QueryCase } from '../harness/query-cases.js'
import type { QueryAnswer, QueryJob, QuerySetup, Step } from '../harness/query-target.js'
import { createRandom } from '../harness/random.js'
import { type Goal, goalFor, type Row, rowOf } from '../harness/results.js'
import { Worker } from '../harness/workers.js'
import type { MemorySetup } from '../targets/memory-process.js'
import type { SqliteLog } from '../targets/sqlite-log.js'

/*
 * The first query of a process that opens a file that is not in the page cache, and the memory of a process after
 * many queries.
 */

/** Ways to evict a file from the page cache; each returns false where the system does not have it. */
const EVICTIONS = {
  'by `posix_fadvise`, through `dd`': (file: string): boolean =>
    spawnSync('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0']).status ===
    0,
  'by `vmtouch -e`': (file: string): boolean => spawnSync('vmtouch', ['-e', file]).status === 0,
  'by `drop_caches`': (): boolean => {
    try {
      fs.writeFileSync('/proc/sys/vm/drop_caches', '1')
      return true
    } catch {
      return false
    }
  },
} as const

/** Evicts a SQLite database; returns the way that worked. */
function evict(filename: string): string {
  const files = ['', '-wal', '-shm']
    .map((end) => filename + end)
    .filter((file) => fs.existsSync(file))
  const way = Object.entries(EVICTIONS).find(([, evictFile]) => files.every((f) => evictFile(f)))
  return way?.[0] ?? 'not evicted'
}

interface ColdQuery {
  readonly setup: QuerySetup
  readonly filename: string
  readonly query: Query
  readonly ideal?: readonly string[]
}

const PAGE_BYTES = 4096
const RANDOM_READS = 200

/** Milliseconds of one read of a random page of a file that is not in the page cache. No store may have it open. */
function randomRead(filename: string): number {
  evict(filename)
  const file = fs.openSync(filename, 'r')
  try {
    const pages = Math.floor(fs.fstatSync(file).size / PAGE_BYTES)
    const random = createRandom(1)
    const page = Buffer.alloc(PAGE_BYTES)
    const reads = Array.from({ length: RANDOM_READS }, () => {
      const start = performance.now()
      fs.readSync(file, page, 0, PAGE_BYTES, random.below(pages) * PAGE_BYTES)
      return performance.now() - start
    })
    return median(reads)
  } finally {
    fs.closeSync(file)
  }
}

async function queryCold({
  setup,
  filename,
  query,
  ideal,
}: ColdQuery): Promise<QueryAnswer & { readonly eviction: string }> {
  const eviction = evict(filename)
  const worker = await Worker.start<QueryJob, QueryAnswer>('query-process.ts', setup)
  const answer = await worker.ask({
    queries: [query],
    warmUp: [],
    ideal,
    maxSeconds: 1,
    explain: true,
  })
  await worker.end()
  return { ...answer, eviction }
}

const isColdCase = ({ group }: QueryCase): boolean => group === 'eq' || group === 'hard'

function noScanGoal(steps: readonly Step[] | undefined): Goal[] {
  if (!steps) return []
  const rows = steps.reduce((sum, step) => sum + (step.method === 'scan' ? step.rows : 0), 0)
  const missedBy = rows === 0 ? '' : `${whole(rows)} events scanned`
  return [{ goal: 'no scan', figure: rows, spread: [rows, rows], met: rows === 0, missedBy }]
}

/** Milliseconds of the first query of a process. */
const COLD_LIMIT = 10

interface Cold {
  readonly log: SqliteLog
  readonly rounds: number
  readonly randomReadMs: number
  /** Receives the times that opening the store took. */
  readonly opened: number[]
}

const coldGroup = (log: SqliteLog, eviction: string, randomReadMs: number): string =>
  `A cold file, SQLite, ${whole(log.events)} events: the first query of a process, with its ratio to one random read of 4 KiB, ${milliseconds(randomReadMs)} (evicted ${eviction})`

async function coldRow(cold: Cold, one: QueryCase, at: number): Promise<Row> {
  const { log, rounds, randomReadMs, opened } = cold
  const ours: QuerySetup = { side: 'daybook', store: { store: 'sqlite', filename: log.daybook } }
  const daybook: Times = { rounds: [], steps: undefined }
  const ideal: Times = { rounds: [], steps: undefined }
  const processor: number[] = []
  let eviction = ''
  for (let round = 0; round < rounds; round++) {
    const [query] = queriesOf(one, log, 1, 5_000_000 + round * 1000 + at) as [Query]
    const answer = await queryCold({ setup: ours, filename: log.daybook, query })
    eviction = answer.eviction
    opened.push(answer.openMilliseconds)
    daybook.steps ??= answer.steps
    daybook.rounds.push(answer.milliseconds)
    processor.push(answer.firstProcessorMilliseconds)
    if (!one.ideal) continue
    const other = await queryCold({
      setup: { side: 'raw', filename: log.raw },
      filename: log.raw,
      query,
      ideal: one.ideal,
    })
    ideal.rounds.push(other.milliseconds)
    if (other.results[0]!.digest !== answer.results[0]!.digest)
      throw new Error(`${one.name}: SQL with the ideal index returns other events`)
  }
  console.error(`cold, ${one.name}: ${mediansOf(daybook).map(milliseconds).join(', ')}`)
  return rowOf({
    group: coldGroup(log, eviction, randomReadMs),
    name: one.name,
    daybook: mediansOf(daybook),
    reference: one.ideal && { name: 'ideal index', figures: mediansOf(ideal) },
    ratio: mediansOf(daybook).map((ms) => ms / randomReadMs),
    print: milliseconds,
    note: `processor time ${milliseconds(median(processor))}`,
    goals: [
      ...(log.events < SIZES['1m']
        ? []
        : [goalFor('below', COLD_LIMIT, mediansOf(daybook), { print: milliseconds })]),
      ...noScanGoal(daybook.steps),
    ],
  })
}

const MIXED_QUERIES = 1000

const LARGE_CACHE_BYTES = 32 * 2 ** 20

const mebibytes: Print = (bytes) => `${whole(bytes / 2 ** 20)} MiB`

/** Bytes that a process takes after a thousand queries, with its threads, over one that has only loaded the driver. */
async function memoryAfter(setup: MemorySetup, queries: readonly Query[]): Promise<number> {
  const bare = await Worker.start<'rss', number>('bare-process.ts', {})
  const bareBytes = await bare.ask('rss')
  await bare.end()
  const worker = await Worker.start<readonly Query[], number>('memory-process.ts', setup)
  const bytes = await worker.ask(queries)
  await worker.end()
  return bytes - bareBytes
}

function mixedQueries(log: SqliteLog, seed: number): readonly Query[] {
  const each = Math.ceil(MIXED_QUERIES / QUERY_CASES.length)
  const byCase = QUERY_CASES.map((one, at) => queriesOf(one, log, each, seed + at))
  const inTurns = Array.from({ length: each }, (_, i) => byCase.map((some) => some[i]!)).flat()
  return inTurns.slice(0, MIXED_QUERIES)
}

/** The goal is for the default; the other value shows what the option bounds. */
async function memoryRows(log: SqliteLog, rounds: number): Promise<Row[]> {
  const byDefault: number[] = []
  const larger: number[] = []
  for (let round = 0; round < rounds; round++) {
    const queries = mixedQueries(log, 7_000_000 + round)
    const setup = { filename: log.daybook }
    byDefault.push(await memoryAfter(setup, queries))
    larger.push(await memoryAfter({ ...setup, cacheBytes: LARGE_CACHE_BYTES }, queries))
  }
  const row = (name: string, daybook: readonly number[], goals: readonly Goal[]): Row =>
    rowOf({
      group: `Memory of a process, SQLite, ${whole(log.events)} events: a thousand mixed queries, over a process that has only loaded the driver`,
      name,
      daybook,
      print: mebibytes,
      goals,
    })
  const limit = goalFor('below', 80 * 2 ** 20, byDefault, { print: mebibytes })
  return [
    row('resident memory, with the threads', byDefault, [limit]),
    row(`with \`cacheBytes: ${LARGE_CACHE_BYTES}\``, larger, []),
  ]
}

export async function coldRows(log: SqliteLog, rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  const randomReadMs = randomRead(log.raw)
  const opened: number[] = []
  for (const [at, one] of QUERY_CASES.filter(isColdCase).entries())
    rows.push(await coldRow({ log, rounds, randomReadMs, opened }, one, at))
  const opening = rowOf({
    group: `A cold file, SQLite, ${whole(log.events)} events: opening the store`,
    name: 'with the driver',
    daybook: opened,
    print: milliseconds,
    goals: [goalFor('below', 30, opened, { print: milliseconds })],
  })
  return [...rows, opening, ...(await memoryRows(log, rounds))]
}
