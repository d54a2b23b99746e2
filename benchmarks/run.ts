/*
 * Measures what benchmarks/results.md tells, and writes it:
 *
 *   npm run bench [-- --size 1m|10m] [--only ingest,queries,…] [--rounds n] [--keep folder]
 *
 * At 10m that is what depends on the size, beside the same at 1m, and goes to benchmarks/results-10m.md;
 * a scan of that many is left out.
 * Builds the package and installs the peers, then runs one part after the other, each in processes of its
 * own. A part can be run alone as well: see the scripts of package.json. Files go to the system's folder
 * for temporary files (TMPDIR), which should be on a disk, with room for 3 GB at 1m and 30 GB at 10m;
 * `--keep` names another one, in which prepared logs stay for the next run. With `--only` nothing is
 * written: the tables are printed.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Row, tablesOf } from './harness/results.js'
import { withLogs } from './targets/sqlite-log.js'
import { machine } from './harness/machine.js'
import { readSize, type Size, SIZES } from './harness/options.js'

interface Part {
  readonly script: string
  /** Takes `--size` and `--keep`; no larger one than that, where there is such. */
  readonly upTo?: Size
}

const PARTS = {
  ingest: { script: 'suites/ingest.ts' },
  sustained: { script: 'suites/sustained.ts', upTo: '10m' },
  queries: { script: 'suites/queries.ts', upTo: '10m' },
  memory: { script: 'suites/memory.ts', upTo: '1m' },
  postgres: { script: 'suites/postgres-queries.ts', upTo: '1m' },
  http: { script: 'suites/http.ts' },
} as const satisfies Readonly<Record<string, Part>>

type PartName = keyof typeof PARTS

const ROOT = path.join(import.meta.dirname, '..')
const resultsOf = (size: Size): string =>
  path.join(import.meta.dirname, size === '1m' ? 'results.md' : `results-${size}.md`)

function prepare(): void {
  const npm = (...args: string[]): void =>
    void execFileSync('npm', args, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  npm('run', 'build')
  try {
    npm('install', '--prefix', 'benchmarks/peers', '--no-fund', '--no-audit')
  } catch {
    console.error('the peers, or one of them, could not be installed here')
  }
}

/** The sizes a part is run at: a log of ten million is told beside one of a million. */
function sizesOf(name: PartName, size: Size): readonly (Size | undefined)[] {
  const { upTo }: Part = PARTS[name]
  if (!upTo) return [undefined]
  return size === '10m'
    ? (['1m', '10m'] as const).filter((one) => SIZES[one] <= SIZES[upTo])
    : [size]
}

async function runPart(
  name: PartName,
  size: Size | undefined,
  rounds: string | undefined,
  folder: string,
): Promise<Row[]> {
  const { script } = PARTS[name]
  const file = path.join(folder, `${name}.json`)
  const args = [
    ...process.execArgv,
    path.join(import.meta.dirname, script),
    ...['--rows', file],
    ...(size ? ['--size', size, '--keep', folder] : []),
    ...(rounds === undefined ? [] : ['--rounds', rounds]),
  ]
  const start = performance.now()
  console.error(`\n${name} ${size ?? ''}`)
  const child = spawn(process.execPath, args, { stdio: ['ignore', 2, 2] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`the part ${name} failed`)
  const rows = JSON.parse(fs.readFileSync(file, 'utf8')) as Row[]
  fs.rmSync(file)
  console.error(`${name} took ${Math.round((performance.now() - start) / 1000)} s`)
  return rows
}

/** The sections of single suites, which this run does not measure. */
function suiteSections(file: string): string {
  const text = fs.readFileSync(file, 'utf8')
  const start = text.indexOf('<!-- suites -->')
  return start === -1 ? '' : `\n${text.slice(start)}`
}

function summary(rows: readonly Row[]): string {
  const aims = rows.flatMap((row) => row.aims)
  const met = aims.filter((aim) => aim.met).length
  return `Of ${aims.length} aims ${met} are met; where one is not, it is told by how much.`
}

function report(rows: readonly Row[], size: Size, failed: readonly PartName[]): string {
  return [
    '# Results of the benchmarks',
    '',
    `Written by \`npm run bench -- --size ${size}\`; do not edit.`,
    '',
    ...machine(),
    '',
    'Medians [least–greatest] of the rounds; a ratio is taken within each round, of neighbours in time, and each',
    'side works in processes of its own. Events have about 640 bytes of attributes as JSON, with some 20 values;',
    'answers are objects whose attributes are read, and have to be the same on all sides. p99 is of all single',
    'questions, each of which asks for another value, behind 200 others, or as many as fit into a second,',
    'that are not measured.',
    '',
    summary(rows),
    ...failed.map((name) => `**The part ${name} failed, and is missing.**`),
    '',
    ...tablesOf(rows),
  ].join('\n')
}

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '1m' },
    rounds: { type: 'string' },
    only: { type: 'string' },
    keep: { type: 'string' },
  },
})
const size = readSize(values.size)
const all = Object.keys(PARTS) as PartName[]
const isPart = (name: string): name is PartName => Object.hasOwn(PARTS, name)
const ofSize = all.filter((name) => size === '1m' || sizesOf(name, size).includes(size))
const given = values.only?.split(',') ?? ofSize
const unknown = given.find((name) => !isPart(name))
if (unknown !== undefined) throw new Error(`--only knows ${all.join(', ')}; there is no ${unknown}`)
const wanted = given.filter(isPart)

prepare()
await withLogs(values.keep, async (folder) => {
  const rows: Row[] = []
  const failed: PartName[] = []
  for (const name of wanted)
    try {
      for (const one of sizesOf(name, size))
        rows.push(...(await runPart(name, one, values.rounds, folder)))
    } catch (error) {
      console.error(error)
      failed.push(name)
    }
  if (values.only === undefined) {
    const file = resultsOf(size)
    fs.writeFileSync(file, report(rows, size, failed) + suiteSections(file))
  }
  if (values.only !== undefined) console.log(tablesOf(rows).join('\n'))
  if (failed.length > 0) process.exitCode = 1
})
