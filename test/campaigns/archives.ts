import { execFile } from 'node:child_process'
import path from 'node:path'
import fc from 'fast-check'
import { startOwnPostgres } from '../support/postgres.js'
import { compileSources } from '../support/global-compiled.js'
import { type Place, postgresPlace, sqlitePlace } from './archives/archive-place.js'
import { type Ended, openArchivedLog, type RunArchiving } from './archives/archived-log.js'
import type { Campaign } from './run.js'

/*
 * A process archives the due events of a log, and is killed with SIGKILL at a step of its work. The rounds go through
 * all steps, as JSON lines and as Parquet; with `--store postgres`, whole partitions are archived. Some logs have a
 * second kill, at a random step of the next run. After each kill, the log and the files together must have every
 * event, and every file with a final name must be readable. After a last run, no due events and no incomplete files
 * may be left, and the manifest must list all files.
 */

const FORMATS = ['ndjson', 'parquet'] as const
type Format = (typeof FORMATS)[number]

function runner(file: string): RunArchiving {
  return (args) =>
    new Promise<Ended>((resolve, reject) => {
      execFile(process.execPath, [file, ...args], (error, stdout, stderr) => {
        const done = /^done (\d+)$/m.exec(stdout)?.[1]
        if (error?.signal === 'SIGKILL') resolve({ wasKilled: true, steps: Number(args.at(-1)) })
        else if (done === undefined) reject(new Error(`the process has failed: ${stderr}`))
        else resolve({ wasKilled: false, steps: Number(done) })
      })
    })
}

/** Opens a log, and archives it until each of the steps in turn and then to the end. Resolves to the number of kills. */
async function killAt(
  format: Format,
  run: RunArchiving,
  place: Place,
  steps: readonly number[],
): Promise<number> {
  const log = await openArchivedLog(format, run, place)
  try {
    let kills = 0
    for (const step of steps) if ((await log.archive(step)).wasKilled) kills++
    await log.archive()
    return kills
  } finally {
    await log.close()
  }
}

async function countSteps(format: Format, run: RunArchiving, place: Place): Promise<number> {
  const log = await openArchivedLog(format, run, place)
  try {
    return (await log.archive()).steps
  } finally {
    await log.close()
  }
}

export const campaign: Campaign = {
  rounds: 1000,
  async run({ seed, rounds, from, seconds = Infinity, store, failed }) {
    const end = performance.now() + seconds * 1000
    const compiled = await compileSources()
    const file = path.join(compiled.folder, 'test/campaigns/archives/archiving.js')
    const run = runner(file)
    const server = store === 'postgres' ? await startOwnPostgres() : undefined
    const place = (): Place => (server ? postgresPlace(server.url) : sqlitePlace())
    try {
      const ndjson = await countSteps('ndjson', run, place())
      const parquet = await countSteps('parquet', run, place())
      const steps = { ndjson, parquet }
      const second = fc.option(fc.integer({ min: 1, max: Math.min(ndjson, parquet) }))
      const plan = fc.sample(second, { seed, numRuns: rounds })
      const figures = { logs: 0, kills: 0, steps }
      for (let round = from; round < rounds && performance.now() < end; round++) {
        const format = FORMATS[round % FORMATS.length]!
        const first = 1 + (Math.floor(round / FORMATS.length) % steps[format])
        const wanted = [first, plan[round] ?? undefined].filter((step) => step !== undefined)
        try {
          figures.kills += await killAt(format, run, place(), wanted)
          figures.logs++
        } catch (error) {
          failed(`round ${round}, ${format}, steps ${wanted.join(' and ')}: ${String(error)}`)
        }
      }
      return figures
    } finally {
      await server?.stop()
      await compiled.remove()
    }
  },
}
