import {
  choosePlace,
  type Flip,
  flipOnce,
  type FlipTarget,
  rightAnswers,
  seededNumbers,
} from '../support/flips.js'
import { postgresFlips } from '../support/postgres-flips.js'
import { sqliteFlips } from '../support/sqlite-flips.js'
import type { Campaign } from './run.js'

const percent = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`

/** `postgres` has no checksums of pages, `postgres-checksums` has. */
const TARGETS = {
  sqlite: sqliteFlips,
  postgres: () => postgresFlips('off'),
  'postgres-checksums': () => postgresFlips('on'),
}

const isTarget = (name: string): name is keyof typeof TARGETS => Object.hasOwn(TARGETS, name)

function pagesOf({ pages }: FlipTarget, table: string | undefined): FlipTarget['pages'] {
  if (table === undefined) return pages
  const some = pages.get(table)
  if (!some) throw new Error(`--table must be one of ${[...pages.keys()].join(', ')}`)
  return new Map([[table, some]])
}

/** Flips a bit in each round. Checks whether lists are right or report the damage, and whether `verify` finds it. */
export const campaign: Campaign = {
  rounds: 1000,
  async run({ seed, rounds, from, store = 'sqlite', table, failed }) {
    if (!isTarget(store))
      throw new Error(`--store must be one of ${Object.keys(TARGETS).join(', ')}`)
    const target = await TARGETS[store]()
    const flips: Flip[] = []
    try {
      const pages = pagesOf(target, table)
      const right = await rightAnswers(target)
      const next = seededNumbers(seed)
      for (let round = 0; round < rounds; round++) {
        const place = choosePlace(pages, next)
        if (round < from) continue
        try {
          flips.push(await flipOnce(target, place, right, 'all'))
        } catch (error) {
          failed(`round ${round}: ${JSON.stringify(place)}: ${(error as Error).stack}`)
        }
      }
    } finally {
      await target.close()
    }
    return { store, ...figuresOf(flips, target.isChecked) }
  },
}

function figuresOf(flips: readonly Flip[], isChecked: (table: string) => boolean): object {
  const count = (some: readonly Flip[], outcome: Flip['outcome']): number =>
    some.filter((flip) => flip.outcome === outcome).length
  const tables = new Map<string, Flip[]>()
  for (const flip of flips) tables.set(flip.table, [...(tables.get(flip.table) ?? []), flip])
  const rows = [...tables].map(([table, some]) => ({
    table,
    flips: some.length,
    reported: count(some, 'reported'),
    failed: count(some, 'failed'),
    right: count(some, 'right'),
    wrong: count(some, 'wrong'),
    verified: some.filter(({ isVerified }) => isVerified === true).length,
    unnoticed: some.filter(({ isVerified }) => isVerified === false).length,
  }))
  console.table(rows)
  const describe = (what: string, some: readonly Flip[]): void => {
    for (const { table, page, offset, bit, outcome, detail = '' } of some)
      console.log(`${what}: ${table} page ${page} byte ${offset} bit ${bit}: ${outcome} ${detail}`)
  }
  const unnoticed = flips.filter(({ isVerified }) => isVerified === false)
  const quiet = flips.filter(({ outcome }) => outcome === 'right' || outcome === 'wrong')
  describe('nothing found', unnoticed)
  describe(
    'found by verify only',
    quiet.filter((flip) => flip.outcome === 'wrong' && flip.isVerified === true),
  )
  describe(
    'failed',
    flips.filter(({ outcome }) => outcome === 'failed'),
  )
  const checked = flips.filter(({ table }) => isChecked(table))
  return {
    'lists right or damage reported, events and segments': percent(
      checked.length - count(checked, 'wrong'),
      checked.length,
    ),
    'lists right or damage reported, all tables': percent(
      flips.length - count(flips, 'wrong'),
      flips.length,
    ),
    'of those not reported, found by verify': percent(
      quiet.length - unnoticed.length,
      quiet.length,
    ),
    'wrong, and not found by verify': unnoticed.filter(({ outcome }) => outcome === 'wrong').length,
  }
}
