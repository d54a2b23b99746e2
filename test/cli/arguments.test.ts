import { expect, it } from 'vitest'
import { exitCodes } from '../../adapters/cli/terminal/exit-codes.js'
import { postgresDatabase } from '../support/database.js'
import { checkArguments } from './arguments/check.js'

/* The short form of `npm run soak -- cli-arguments`. */

const ROUNDS = 400

/** Exit codes of signals, which only a separate process can end with. */
const OF_SIGNALS = new Set<number>([exitCodes.hungUp[0], exitCodes.terminated[0]])

it('random command lines end in order, on SQLite, on Postgres and over HTTP', async () => {
  const database = await postgresDatabase()
  const failures: string[] = []
  const failed = (what: string): void => void failures.push(what)
  const run = { seed: 25, from: 0, rounds: ROUNDS, postgresUrl: database.url, failed }
  const { exits } = await checkArguments(run)
  await database.remove()
  expect(failures).toEqual([])
  const ended = new Set(Object.values(exits).flatMap((counts) => Object.keys(counts).map(Number)))
  expect(ended).toEqual(
    new Set(Object.values(exitCodes).flatMap(([code]) => (OF_SIGNALS.has(code) ? [] : code))),
  )
})
