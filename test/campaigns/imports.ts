import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import type { JsonObject } from 'daybook'
import { median } from 'simple-statistics'
import { createRandom } from '../../benchmarks/harness/random.js'
import { compileSources } from '../support/global-compiled.js'
import { tempDir } from '../support/temp.js'
import type { Campaign, CampaignRun } from './run.js'
import { onNewPlace } from './shared/rounds.js'

/*
 * Imports 100,000 records of CloudTrail by the command line, into a new log of SQLite and of Postgres in turn. The
 * records are those of the fixture, repeated with new ids.
 */

const RECORDS = 100_000
const MAX_SECONDS = 60
const FIXTURE = path.resolve(
  import.meta.dirname,
  '../fixtures/security-datasets/aws-cloudtrail.ndjson.gz',
)

function writeRecords(file: string, seed: number): void {
  const random = createRandom(seed)
  const records = gunzipSync(fs.readFileSync(FIXTURE))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)
  const lines = Array.from({ length: RECORDS }, (_, n) => {
    const ids = { eventID: random.uuid(), requestID: random.uuid() }
    return `${JSON.stringify({ ...records[n % records.length], ...ids })}\n`
  })
  fs.writeFileSync(file, lines.join(''))
}

/** Runs the command line in another process, and returns its output. */
type Run = (...args: readonly string[]) => Promise<string>

/** Returns the seconds that an import into a new log took. */
async function importRecords(run: Run, log: string, file: string): Promise<number> {
  const start = performance.now()
  await run('import', log, file, '--preset', 'cloudtrail')
  const seconds = (performance.now() - start) / 1000
  const count = Number(await run('count', log))
  if (count !== RECORDS) throw new Error(`the log has ${count} events`)
  return seconds
}

const importInto = (name: string, run: Run, file: string): Promise<number> =>
  onNewPlace(name === 'postgres', async (location) => {
    if (name === 'postgres') await run('migrate', location)
    return importRecords(run, location, file)
  })

const tenths = (value: number): number => Math.round(value * 10) / 10

async function importInTurn(
  run: Run,
  file: string,
  { rounds, from, seconds: limit = Infinity, store, failed }: CampaignRun,
): Promise<object> {
  const end = performance.now() + limit * 1000
  const stores = ['sqlite', 'postgres'].filter((name) => name === (store ?? name))
  const taken = new Map<string, number[]>()
  for (let round = from; round < rounds && performance.now() < end; round++)
    for (const name of stores) {
      const seconds = await importInto(name, run, file)
      console.log(`round ${round}: ${name}, ${tenths(seconds)} s`)
      if (seconds >= MAX_SECONDS) failed(`round ${round}: ${name} took ${tenths(seconds)} s`)
      taken.set(name, [...(taken.get(name) ?? []), seconds])
    }
  return Object.fromEntries(
    [...taken].map(([name, seconds]) => [
      name,
      {
        medianSeconds: tenths(median(seconds)),
        maxSeconds: tenths(Math.max(...seconds)),
        perSecond: Math.round(RECORDS / median(seconds)),
      },
    ]),
  )
}

export const campaign: Campaign = {
  rounds: 5,
  async run(options) {
    const compiled = await compileSources()
    const main = path.join(compiled.folder, 'adapters/cli/main.js')
    const run: Run = async (...args) =>
      (await promisify(execFile)(process.execPath, [main, ...args])).stdout
    const temp = tempDir()
    const file = temp.file('records.ndjson')
    writeRecords(file, options.seed)
    const megabytes = tenths(fs.statSync(file).size / 1e6)
    const figures = await importInTurn(run, file, options)
    temp.remove()
    await compiled.remove()
    return { records: RECORDS, megabytes, ...figures }
  },
}
