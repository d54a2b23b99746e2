import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { median } from 'simple-statistics'
import { milliseconds, type Print, whole } from '../harness/format.js'
import type { Query } from '../harness/query.js'
import { queriesOf, QUERY_CASES, type QueryCase } from '../harness/query-cases.js'
import type { QueryAnswer, QueryJob, QuerySetup } from '../harness/query-target.js'
import { createRandom } from '../harness/random.js'
import type { Row, Table } from '../harness/suite.js'
import { runOnce } from '../harness/workers.js'
import type { MemorySetup } from '../targets/memory-process.js'
import type { SqliteLog } from '../targets/sample-logs.js'

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

function queryCold(
  setup: QuerySetup,
  filename: string,
  query: Query,
  ideal?: readonly string[],
): Promise<QueryAnswer> {
  evict(filename)
  const job: QueryJob = { queries: [query], warmUp: [], ideal, maxSeconds: 1 }
  return runOnce('query-process.ts', setup, job)
}

const isColdCase = ({ group }: QueryCase): boolean => group === 'eq' || group === 'hard'
const msOf = (answers: readonly QueryAnswer[]): number[] =>
  answers.map(({ milliseconds: [first] }) => first!)

async function coldRow(
  log: SqliteLog,
  one: QueryCase,
  seed: number,
  rounds: number,
): Promise<[Row, opened: number[]]> {
  const setup: QuerySetup = { side: 'daybook', store: { store: 'sqlite', filename: log.daybook } }
  const raw: QuerySetup = { side: 'raw', filename: log.raw }
  const ours: QueryAnswer[] = []
  const theirs: QueryAnswer[] = []
  for (let round = 0; round < rounds; round++) {
    const [query] = queriesOf(one, log, 1, seed + round * 1000) as [Query]
    const answer = await queryCold(setup, log.daybook, query)
    ours.push(answer)
    if (!one.ideal) continue
    const other = await queryCold(raw, log.raw, query, one.ideal)
    theirs.push(other)
    if (other.results[0]!.digest !== answer.results[0]!.digest)
      throw new Error(`${one.name}: SQL with the ideal index returns other events`)
  }
  const processor = median(ours.map((answer) => answer.firstProcessorMilliseconds))
  console.error(`cold, ${one.name}: ${msOf(ours).map(milliseconds).join(', ')}`)
  const row: Row = {
    name: one.name,
    ours: msOf(ours),
    theirs: one.ideal && msOf(theirs),
    against: 'ideal index',
    print: milliseconds,
    note: `processor time ${milliseconds(processor)}`,
    goal: log.events < 1e6 ? undefined : { figure: { atMost: 10 } },
  }
  return [row, ours.map((answer) => answer.openMilliseconds)]
}

/** The first queries of processes on files that are not in the page cache. */
export async function coldTables(log: SqliteLog, rounds: number): Promise<Table[]> {
  const readMs = randomRead(log.raw)
  const eviction = evict(log.daybook)
  const rows: Row[] = []
  const opened: number[] = []
  for (const [at, one] of QUERY_CASES.filter(isColdCase).entries()) {
    const [row, times] = await coldRow(log, one, 5_000_000 + at, rounds)
    rows.push(row)
    opened.push(...times)
  }
  rows.push({
    name: 'opening the store, with the driver',
    ours: opened,
    print: milliseconds,
    goal: { figure: { atMost: 30 } },
  })
  return [
    {
      title: 'A cold file: the first query of a process',
      text: `Files are evicted ${eviction}. One random read of 4 KiB takes ${milliseconds(readMs)}.`,
      rows,
    },
  ]
}

const MIXED_QUERIES = 1000
const LARGE_CACHE_BYTES = 32 * 2 ** 20
const mebibytes: Print = (bytes) => `${whole(bytes / 2 ** 20)} MiB`

/** Bytes that a process takes after a thousand queries, with its threads, over one that has only loaded the driver. */
async function memoryAfter(setup: MemorySetup, queries: readonly Query[]): Promise<number> {
  const bare = await runOnce<number>('bare-process.ts', {})
  return (await runOnce<number>('memory-process.ts', setup, queries)) - bare
}

function mixedQueries(log: SqliteLog, seed: number): readonly Query[] {
  const each = Math.ceil(MIXED_QUERIES / QUERY_CASES.length)
  const byCase = QUERY_CASES.map((one, at) => queriesOf(one, log, each, seed + at))
  const inTurns = Array.from({ length: each }, (_, i) => byCase.map((some) => some[i]!)).flat()
  return inTurns.slice(0, MIXED_QUERIES)
}

/** The memory of a process after many queries. */
export async function memoryTables(log: SqliteLog, rounds: number): Promise<Table[]> {
  const byDefault: number[] = []
  const larger: number[] = []
  for (let round = 0; round < rounds; round++) {
    const queries = mixedQueries(log, 7_000_000 + round)
    const setup = { filename: log.daybook }
    byDefault.push(await memoryAfter(setup, queries))
    larger.push(await memoryAfter({ ...setup, cacheBytes: LARGE_CACHE_BYTES }, queries))
  }
  return [
    {
      title: 'Memory of a process after a thousand mixed queries',
      text: 'Resident memory with the threads, over a process that has only loaded the driver.',
      rows: [
        {
          name: 'by default',
          ours: byDefault,
          print: mebibytes,
          goal: { figure: { atMost: 80 * 2 ** 20 } },
        },
        { name: `with \`cacheBytes: ${LARGE_CACHE_BYTES}\``, ours: larger, print: mebibytes },
      ],
    },
  ]
}
