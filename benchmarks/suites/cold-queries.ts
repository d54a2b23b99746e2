import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { mediansOf, type Times } from '../harness/compare.js'
import { milliseconds, whole } from '../harness/format.js'
import type { Query } from '../harness/query.js'
import { queriesOf, QUERY_CASES, type QueryCase } from '../harness/query-cases.js'
import type { QueryAnswer, QueryJob, QuerySetup, Step } from '../harness/query-target.js'
import { type Goal, type Row, rowOf } from '../harness/results.js'
import { Worker } from '../harness/workers.js'
import type { SqliteLog } from '../targets/sqlite-log.js'

/* The first query of a process that opens a file that is not in the page cache. */

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

async function coldRow(log: SqliteLog, one: QueryCase, at: number, rounds: number): Promise<Row> {
  const ours: QuerySetup = { side: 'daybook', store: { store: 'sqlite', filename: log.daybook } }
  const daybook: Times = { rounds: [], steps: undefined }
  const ideal: Times = { rounds: [], steps: undefined }
  let eviction = ''
  for (let round = 0; round < rounds; round++) {
    const [query] = queriesOf(one, log, 1, 5_000_000 + round * 1000 + at) as [Query]
    const answer = await queryCold({ setup: ours, filename: log.daybook, query })
    eviction = answer.eviction
    daybook.steps ??= answer.steps
    daybook.rounds.push(answer.milliseconds)
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
    group: `A cold file, SQLite, ${whole(log.events)} events: the first query of a process (evicted ${eviction})`,
    name: one.name,
    daybook: mediansOf(daybook),
    reference: one.ideal && { name: 'ideal index', figures: mediansOf(ideal) },
    print: milliseconds,
    goals: noScanGoal(daybook.steps),
  })
}

export async function coldRows(log: SqliteLog, rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const [at, one] of QUERY_CASES.filter(isColdCase).entries())
    rows.push(await coldRow(log, one, at, rounds))
  return rows
}
