import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { mediansOf, type Times } from '../harness/compare.js'
import type { Step } from '../harness/query-target.js'
import type { Ask } from '../harness/query.js'
import { type Aim, type Row, rowOf } from '../harness/results.js'
import type { Log } from '../targets/sqlite-log.js'
import { milliseconds, whole } from '../harness/format.js'
import { asksOf, QUERY_CASES, type QueryCase } from '../harness/query-cases.js'
import type { Answer, Job, Setup } from '../targets/query-process.js'
import { Worker } from '../harness/workers.js'

/* The first question of a process that opens a file of which nothing is in memory. */

/** How the pages of a file leave the system's memory; each gives false where it cannot be had. */
const WAYS = {
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

const isThere = (file: string): boolean => fs.existsSync(file)

/** Drops the file, with those that SQLite has beside it; tells how. */
export function dropFromMemory(filename: string): string {
  const files = ['', '-wal', '-shm'].map((end) => filename + end).filter(isThere)
  const way = Object.entries(WAYS).find(([, drop]) => files.every((file) => drop(file)))
  return way?.[0] ?? 'not dropped'
}

async function askCold(
  setup: Setup,
  filename: string,
  ask: Ask,
  ideal?: readonly string[],
): Promise<Answer & { readonly way: string }> {
  const way = dropFromMemory(filename)
  const worker = await Worker.start<Job, Answer>('query-process.ts', setup)
  const answer = await worker.ask({
    asks: [ask],
    warmUp: [],
    ideal,
    mostSeconds: 1,
    explained: true,
  })
  await worker.end()
  return { ...answer, way }
}

const isAsked = ({ group }: QueryCase): boolean => group === 'eq' || group === 'hard'

/** That no step was a scan, as `audit.explain` tells where it is there. */
function scanAim(steps: readonly Step[] | undefined): Aim[] {
  if (!steps) return []
  const rows = steps.reduce((sum, step) => sum + (step.method === 'scan' ? step.rows : 0), 0)
  const missing = rows === 0 ? '' : `${whole(rows)} events scanned`
  return [{ aim: 'no scan', figure: rows, spread: [rows, rows], met: rows === 0, missing }]
}

export async function coldRows(log: Log, rounds: number): Promise<Row[]> {
  const ours: Setup = { side: 'daybook', store: { store: 'sqlite', filename: log.daybook } }
  const raw: Setup = { side: 'raw', filename: log.raw }
  const rows: Row[] = []
  for (const [at, one] of QUERY_CASES.filter(isAsked).entries()) {
    const daybook: Times = { rounds: [], steps: undefined }
    const ideal: Times = { rounds: [], steps: undefined }
    let way = ''
    for (let round = 0; round < rounds; round++) {
      const [ask] = asksOf(one, log, 1, 5_000_000 + round * 1000 + at) as [Ask]
      const answer = await askCold(ours, log.daybook, ask)
      way = answer.way
      daybook.steps ??= answer.steps
      daybook.rounds.push(answer.milliseconds)
      if (!one.ideal) continue
      const other = await askCold(raw, log.raw, ask, one.ideal)
      ideal.rounds.push(other.milliseconds)
      if (other.found[0]!.digest !== answer.found[0]!.digest)
        throw new Error(`${one.name}: other events are found by the ideal index`)
    }
    console.error(`cold, ${one.name}: ${mediansOf(daybook).map(milliseconds).join(', ')}`)
    rows.push(
      rowOf({
        group: `A cold file, SQLite, ${whole(log.events)} events: the first question of a process (dropped ${way})`,
        name: one.name,
        daybook: mediansOf(daybook),
        reference: one.ideal && { name: 'ideal index', figures: mediansOf(ideal) },
        print: milliseconds,
        aims: scanAim(daybook.steps),
      }),
    )
  }
  return rows
}
