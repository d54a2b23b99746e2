import { checkArguments } from '../cli/arguments/check.js'
import { startOwnPostgres } from '../support/postgres.js'
import type { Campaign } from './run.js'

/*
 * Runs random command lines on a SQLite file, on Postgres and on a feed over HTTP. Each has to end with an exit code of the table, without
 * a stack trace; commands that only read must not change the log, and nothing is removed without `--yes`.
 */
export const campaign: Campaign = {
  rounds: 100_000,
  async run({ seed, from, rounds, failed }) {
    const server = await startOwnPostgres()
    try {
      return await checkArguments({ seed, from, rounds, failed, postgresUrl: server.url })
    } finally {
      await server.stop()
    }
  },
}
