import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type AuditEvent, AuditLog, formatTimestamp } from 'daybook'
import { median } from 'simple-statistics'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { createRandom } from '../../benchmarks/harness/random.js'
import { createSampler } from '../../benchmarks/harness/sample-events.js'
import { compileSources } from '../support/global-compiled.js'
import { tempDir } from '../support/temp.js'
import { contentOf } from './exports/check.js'
import { EXPORT_NAMES, type ExportFigures, type ExportName } from './exports/figures.js'
import type { Campaign } from './run.js'

/*
 * Exports an SQLite log of 1,000,000 events as NDJSON, as NDJSON compressed with gzip and as Parquet, each in its own
 * process. The figures are medians over the rounds. All files of a round must have the same events.
 */

const SIZE = 1_000_000
const IMPORTED_AT_ONCE = 5000
/** 2026-01-01T00:00:00Z */
const START = 1_767_225_600_000_000
const MEBIBYTE = 1024 * 1024

const AIMS = {
  /** Limit of the growth of memory between the two marks, for each export. */
  growthMiB: 16,
  /** Limit of the difference of the peaks of Parquet and NDJSON. */
  parquetOverNdjsonMiB: 32,
  /** Minimum of the processor time of compressed NDJSON divided by that of Parquet. */
  ndjsonGzToParquet: 0.7,
}

/** Writes a log, and waits until its index is complete. */
async function writeLog(filename: string, seed: number): Promise<void> {
  const { store, sealer } = createSqliteStore({ filename })
  const audit = new AuditLog({ store, types: {} })
  const random = createRandom(seed)
  const next = createSampler(seed)
  let time = START
  const event = (): AuditEvent => {
    const { type, username, data } = next()
    time += 1 + random.below(5_000_000)
    return {
      id: random.uuid(),
      created_at: formatTimestamp(time),
      username,
      system: true,
      type,
      source: null,
      attributes: data as AuditEvent['attributes'],
    }
  }
  for (let at = 0; at < SIZE; at += IMPORTED_AT_ONCE)
    await audit.importEvents(Array.from({ length: IMPORTED_AT_ONCE }, event))
  await sealer.settled()
  await audit.close()
}

async function runExport(
  child: string,
  log: string,
  name: ExportName,
  file: string,
): Promise<ExportFigures> {
  const { stdout } = await promisify(execFile)(process.execPath, [child, log, name, file])
  return JSON.parse(stdout) as ExportFigures
}

const tenths = (value: number): number => Math.round(value * 10) / 10
const hundredths = (value: number): number => Math.round(value * 100) / 100
const mebibytes = (bytes: number): number => tenths(bytes / MEBIBYTE)

type Runs = Readonly<Record<ExportName, ExportFigures[]>>

const medianOf = (runs: readonly ExportFigures[], figure: (run: ExportFigures) => number): number =>
  median(runs.map(figure))

const growthOf = ({ rss }: ExportFigures): number => rss[1]! - rss[0]!

/** The medians of one kind of export. */
const summarize = (runs: readonly ExportFigures[]) => ({
  seconds: tenths(medianOf(runs, ({ seconds }) => seconds)),
  cpuSeconds: tenths(medianOf(runs, ({ cpuSeconds }) => cpuSeconds)),
  rssMiB: [0, 1].map((mark) => mebibytes(medianOf(runs, ({ rss }) => rss[mark]!))),
  growthMiB: mebibytes(medianOf(runs, growthOf)),
  peakMiB: mebibytes(medianOf(runs, ({ peak }) => peak)),
})

/** The medians of all kinds of exports, and the figures that compare kinds. */
function compareExports(runs: Runs) {
  const cpu = ({ cpuSeconds }: ExportFigures): number => cpuSeconds
  const peak = ({ peak: bytes }: ExportFigures): number => bytes
  return {
    ...Object.fromEntries(EXPORT_NAMES.map((name) => [name, summarize(runs[name])])),
    parquetOverNdjsonMiB: mebibytes(medianOf(runs.parquet, peak) - medianOf(runs.ndjson, peak)),
    ndjsonGzToParquet: hundredths(medianOf(runs['ndjson.gz'], cpu) / medianOf(runs.parquet, cpu)),
  }
}

function missedAims(runs: Runs): string[] {
  const { parquetOverNdjsonMiB, ndjsonGzToParquet } = compareExports(runs)
  const missed = EXPORT_NAMES.flatMap((name) => {
    const { growthMiB } = summarize(runs[name])
    return growthMiB < AIMS.growthMiB ? [] : [`${name} grew by ${growthMiB} MiB`]
  })
  if (parquetOverNdjsonMiB > AIMS.parquetOverNdjsonMiB)
    missed.push(`Parquet takes ${parquetOverNdjsonMiB} MiB more than NDJSON`)
  if (ndjsonGzToParquet < AIMS.ndjsonGzToParquet)
    missed.push(`NDJSON.gz takes ${ndjsonGzToParquet} times the processor time of Parquet`)
  return missed
}

export const campaign: Campaign = {
  rounds: 5,
  async run({ seed, rounds, from, seconds = Infinity, failed }) {
    const compiled = await compileSources()
    const child = path.join(compiled.folder, 'test/campaigns/exports/child.js')
    const temp = tempDir()
    const log = temp.file('audit.db')
    await writeLog(log, seed)
    console.log(`the log has ${SIZE} events, ${mebibytes(fs.statSync(log).size)} MiB`)
    const end = performance.now() + seconds * 1000
    const runs: Runs = { ndjson: [], 'ndjson.gz': [], parquet: [] }
    for (let round = from; round < rounds && performance.now() < end; round++) {
      const contents = new Set<string>()
      for (const name of EXPORT_NAMES) {
        const file = temp.file(`events.${name}`)
        const figures = await runExport(child, log, name, file)
        runs[name].push(figures)
        const { size } = fs.statSync(file)
        const { events, digest } = await contentOf(name, file)
        fs.rmSync(file)
        contents.add(digest)
        if (events !== SIZE) failed(`round ${round}: ${name} has ${events} events`)
        console.log(`round ${round}: ${name}, ${mebibytes(size)} MiB`, summarize([figures]))
      }
      if (contents.size !== 1) failed(`round ${round}: the files have different events`)
    }
    temp.remove()
    await compiled.remove()
    for (const missed of missedAims(runs)) failed(missed)
    return compareExports(runs)
  },
}
