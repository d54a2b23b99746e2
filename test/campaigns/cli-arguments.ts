import { type ArgumentFigures, checkArguments } from '../cli/arguments/check.js'
import { KINDS } from '../cli/arguments/logs.js'
import { startOwnPostgres } from '../support/postgres.js'
import type { Campaign } from './run.js'

/*
 * Runs random command lines on an SQLite file, on Postgres and on a feed over HTTP. Each must end with an exit code
 * of the table, without a stack trace. Commands that only read must not change the log. Nothing may be removed
 * without `--yes`.
 */

const ROUNDS_PER_LOG = 10_000

type Exits = Record<string, Record<string, number>>

function addExits(sum: Exits, { exits }: ArgumentFigures): void {
  for (const kind of KINDS)
    for (const [code, count] of Object.entries(exits[kind])) {
      const counts = (sum[kind] ??= {})
      counts[code] = (counts[code] ?? 0) + count
    }
}

export const campaign: Campaign = {
  rounds: 100_000,
  async run({ seed, from, rounds, seconds = Infinity, failed }) {
    const end = performance.now() + seconds * 1000
    const exits: Exits = {}
    let first = from
    while (first < rounds && performance.now() < end) {
      const server = await startOwnPostgres()
      const last = Math.min(rounds, first + ROUNDS_PER_LOG)
      try {
        const run = { seed, from: first, rounds: last, failed, postgresUrl: server.url }
        const figures = await checkArguments(run)
        addExits(exits, figures)
        console.log({ rounds: `${first} to ${last - 1}`, lines_per_second: figures.rates })
      } finally {
        await server.stop()
      }
      first = last
    }
    return { lines: first - from, exits }
  },
}
