import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import {
  type Flip,
  flipOnce,
  makeFile,
  pagesOf,
  rightAnswers,
  seededNumbers,
} from '../support/flips.js'
import type { Campaign } from './run.js'

const percent = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`

/** Tables whose damage lists have to notice themselves. */
const CHECKED: ReadonlySet<string> = new Set([
  'daybook_events',
  'daybook_chunks',
  'daybook_chunk_keys',
  'daybook_segment_times',
  'daybook_segments',
])

/** Flips a bit in each round, and finds out whether lists are right or report it, and whether `verify` finds it. */
export const campaign: Campaign = {
  rounds: 1000,
  async run({ seed, rounds, failed }) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-flips-'))
    const files = { base: path.join(folder, 'base.db'), copy: path.join(folder, 'copy.db') }
    const flips: Flip[] = []
    try {
      await makeFile(files.base)
      const right = await rightAnswers(files.base)
      const pages = pagesOf(files.base)
      const next = seededNumbers(seed)
      for (let round = 0; round < rounds; round++) {
        try {
          flips.push(await flipOnce(files, pages, right, { next, asks: 'all' }))
        } catch (error) {
          failed(`round ${round}: ${(error as Error).stack}`)
        }
      }
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
    return figuresOf(flips)
  },
}

function figuresOf(flips: readonly Flip[]): object {
  const count = (some: readonly Flip[], outcome: Flip['outcome']): number =>
    some.filter((flip) => flip.outcome === outcome).length
  const tables = new Map<string, Flip[]>()
  for (const flip of flips) tables.set(flip.table, [...(tables.get(flip.table) ?? []), flip])
  const rows = [...tables].map(([table, some]) => ({
    table,
    flips: some.length,
    reported: count(some, 'reported'),
    right: count(some, 'right'),
    wrong: count(some, 'wrong'),
    verified: some.filter(({ isVerified }) => isVerified === true).length,
    unnoticed: some.filter(({ isVerified }) => isVerified === false).length,
  }))
  console.table(rows)
  const unnoticed = flips.filter(({ isVerified }) => isVerified === false)
  for (const { table, page, offset, bit, outcome, wrong } of unnoticed)
    console.log(
      `nothing found: ${table} page ${page} byte ${offset} bit ${bit}: lists ${outcome} ${wrong ?? ''}`,
    )
  const checked = flips.filter(({ table }) => CHECKED.has(table))
  const quiet = flips.filter(({ outcome }) => outcome !== 'reported')
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
