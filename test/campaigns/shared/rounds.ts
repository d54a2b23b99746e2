import Database from 'better-sqlite3'
import fc from 'fast-check'
import { startOwnPostgres } from '../../support/postgres.js'
import { tempDir } from '../../support/temp.js'
import type { CampaignRun } from '../run.js'

/**
 * Runs the rounds of the seed, from the first wanted one until the time is over. A round that throws is reported as
 * failed. Resolves to the number of successful rounds.
 */
export async function runRounds<Round>(
  { seed, rounds, from, seconds = Infinity, failed }: CampaignRun,
  round: fc.Arbitrary<Round>,
  figures: object,
  act: (round: Round, number: number) => Promise<unknown>,
): Promise<number> {
  const end = performance.now() + seconds * 1000
  let done = 0
  for (const [number, one] of fc.sample(round, { seed, numRuns: rounds }).entries()) {
    if (number < from) continue
    if (performance.now() > end) break
    try {
      await act(one, number)
      done += 1
    } catch (error) {
      failed(`round ${number}, ${JSON.stringify(one)}: ${(error as Error).stack}`)
    }
    if (number % 10 === 9) console.log(`${number + 1} rounds of ${rounds}, seed ${seed}`, figures)
  }
  return done
}

function checkFile(filename: string): void {
  const database = new Database(filename, { readonly: true })
  const found = database.pragma('integrity_check', { simple: true })
  database.close()
  if (found !== 'ok') throw new Error(`damaged: ${String(found)}`)
}

/** Calls `use` with the URL of a new Postgres server, or the name of a new SQLite file, which must not be damaged afterwards. */
export async function onNewPlace<Result>(
  isPostgres: boolean,
  use: (location: string) => Promise<Result>,
): Promise<Result> {
  const server = isPostgres ? await startOwnPostgres() : undefined
  const temp = tempDir()
  try {
    const result = await use(server?.url ?? temp.file('audit.db'))
    if (!server) checkFile(temp.file('audit.db'))
    return result
  } finally {
    temp.remove()
    await server?.stop()
  }
}

export interface LogRounds<Round> {
  readonly round: fc.Arbitrary<Round>
  readonly perLog: number
  /** True if the log of this number is on Postgres. */
  readonly isPostgres: (log: number) => boolean
  /** Printed after each log. */
  readonly figures: object
}

/**
 * Runs the rounds of the seed on new logs, several rounds on each. A log whose rounds throw is reported as failed.
 */
export async function runLogs<Round>(
  { seed, rounds, from, seconds = Infinity, failed }: CampaignRun,
  { round, perLog, isPostgres, figures }: LogRounds<Round>,
  act: (location: string, some: readonly Round[]) => Promise<void>,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  const plan = fc.sample(round, { seed, numRuns: rounds })
  for (let first = from; first < rounds && performance.now() < end; first += perLog) {
    const some = plan.slice(first, first + perLog)
    const onPostgres = isPostgres(Math.floor(first / perLog))
    await onNewPlace(onPostgres, (location) => act(location, some)).catch((error: unknown) =>
      failed(`round ${first} and the following: ${(error as Error).stack}`),
    )
    const store = onPostgres ? 'Postgres' : 'SQLite'
    console.log(`${first + some.length} rounds of ${rounds}, seed ${seed} (${store})`, figures)
  }
}
