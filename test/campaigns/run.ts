import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'

/*
 * Runs a campaign, which takes too long for the suite: `npm run attack -- <name> [--seed n] [--rounds n] [--from n]
 * [--seconds n] [--store name] [--table name]`. Prints its figures, and ends with exit code 1 if a round failed. The same seed
 * repeats it; `--from` leaves out the first rounds of campaigns that may be resumed, `--seconds` ends `archives`, `deliveries`, `exports`,
 * `imports`, `logs` and `numbers` after the round in which they are over, and `cli-arguments` and `compare-index` after the log, `--store`
 * chooses the store of `archives`, `compare-index`, `deliveries`, `flips`, `imports`, `ledger` and `numbers`, and `--table` a table of `flips`, or a
 * column of the results of `mutants`.
 */

export interface CampaignRun {
  readonly seed: number
  readonly rounds: number
  /** The first round to run, to resume. */
  readonly from: number
  /** Time in seconds after which no further round begins. */
  readonly seconds?: number | undefined
  readonly store?: string | undefined
  readonly table?: string | undefined
  /** Reports a round that failed. */
  failed(what: string): void
}

export interface Campaign {
  /** The default number of rounds. */
  readonly rounds: number
  /** Resolves to figures. */
  run(options: CampaignRun): Promise<object>
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string' },
    from: { type: 'string', default: '0' },
    seconds: { type: 'string', default: 'Infinity' },
    store: { type: 'string' },
    table: { type: 'string' },
  },
})
const name = positionals[0]
if (!name || !/^\w[\w-]*$/.test(name))
  throw new Error('name a campaign of test/campaigns, such as fsync')
const { campaign } = (await import(`./${name}.ts`)) as { readonly campaign: Campaign }
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
const rounds = Number(values.rounds ?? campaign.rounds)
const failures: string[] = []
const figures = await campaign.run({
  seed,
  rounds,
  from: Number(values.from),
  seconds: Number(values.seconds),
  store: values.store,
  table: values.table,
  failed(what) {
    failures.push(what)
    console.error(what)
  },
})
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
console.log({ campaign: name, commit, seed, rounds, failures: failures.length, ...figures })
process.exitCode = failures.length > 0 ? 1 : 0
