import fs from 'node:fs'
import { type Found, openFound } from './mutants/found.js'
import { readTests, type Tests } from './mutants/near-tests.js'
import { createScratch, isUnitTest, type Scratch } from './mutants/scratch.js'
import { type Mutant, mutants } from './mutants/table.js'
import type { Campaign } from './run.js'

/*
 * Measures which defects the suite finds. Applies each mutant of `mutants/table.ts` to a copy of the project, and
 * runs tests until a file fails. The first file is the one that found the mutant before, followed by the unit tests
 * and other files near it. Mutants that these files do not find are applied together for one run of the whole suite.
 * The failed files then run with fewer and fewer of these mutants. The results are in `mutants/found.md`, with a
 * column for each measurement, which `--table` names. Mutants with a result are left out.
 */

/** With more near files than this, the whole suite takes less time, because it runs once for all mutants. */
const MAX_NEAR = 12

const OPEN = '?'

const secondsSince = (start: number): number => Math.round((performance.now() - start) / 1000)

/** The first file that fails with the mutant twice, but not without it. */
async function finderAmong(
  scratch: Scratch,
  mutant: Mutant,
  files: readonly string[],
): Promise<string | undefined> {
  for (let left = files; left.length > 0;) {
    const [failed] = await scratch.run(left, [mutant], { bail: true })
    if (failed === undefined) return undefined
    const again = isUnitTest(failed) ? [failed] : await scratch.run([failed], [mutant])
    if (again.length > 0 && (await scratch.run([failed], [])).length === 0) return failed
    left = left.filter((file) => file !== failed)
  }
  return undefined
}

async function finderOf(
  scratch: Scratch,
  mutant: Mutant,
  tests: Tests,
  before: readonly string[],
): Promise<string | undefined> {
  const near = tests.near(mutant.file)
  const groups = [
    before.filter((file) => fs.existsSync(file)),
    near.filter(isUnitTest),
    near.filter((file) => !isUnitTest(file)).slice(0, MAX_NEAR),
  ]
  for (const files of groups) {
    const finder = await finderAmong(scratch, mutant, files)
    if (finder !== undefined) return finder
  }
  return undefined
}

/** The mutant with which the file fails. */
async function culpritOf(
  scratch: Scratch,
  file: string,
  some: readonly Mutant[],
): Promise<Mutant | undefined> {
  if (some.length === 0 || (await scratch.run([file], some)).length === 0) return undefined
  if (some.length === 1)
    return (await finderAmong(scratch, some[0]!, [file])) === undefined ? undefined : some[0]
  const half = some.length >> 1
  return (
    (await culpritOf(scratch, file, some.slice(0, half))) ??
    culpritOf(scratch, file, some.slice(half))
  )
}

/**
 * Runs the whole suite with all these mutants. Then runs the failed files again, without the mutants that were found.
 */
async function findTogether(
  scratch: Scratch,
  tests: Tests,
  found: Found,
  some: readonly Mutant[],
): Promise<void> {
  const left = new Set(some)
  let files = tests.all
  while (left.size > 0) {
    const start = performance.now()
    files = await scratch.run(files, [...left])
    console.log(`${left.size} together: ${files.length} files failed, ${secondsSince(start)} s`)
    const [file, ...others] = files
    if (file === undefined) break
    const culprit = await culpritOf(scratch, file, [...left])
    if (!culprit) {
      files = others
      continue
    }
    left.delete(culprit)
    found.set(culprit, `\`${file}\``)
    console.log(`${culprit.file}, ${culprit.defect}: ${file}`)
  }
  for (const mutant of left) found.set(mutant, 'nothing')
}

export const campaign: Campaign = {
  rounds: mutants.length,
  async run({ from, rounds, table: column = 'before' }) {
    const found = openFound(column)
    const tests = readTests()
    const scratch = createScratch()
    try {
      for (const [i, mutant] of mutants.slice(0, rounds).entries()) {
        if (i < from || found.of(mutant) !== '') continue
        const start = performance.now()
        const finder = await finderOf(scratch, mutant, tests, found.before(mutant))
        const seconds = secondsSince(start)
        found.set(mutant, finder === undefined ? OPEN : `\`${finder}\`, ${seconds} s`)
        console.log(`${i} ${mutant.file}, ${mutant.defect}: ${finder ?? OPEN}, ${seconds} s`)
      }
      const open = mutants.filter((mutant) => found.of(mutant) === OPEN)
      const isLast = mutants.every((mutant) => found.of(mutant) !== '')
      if (isLast && open.length > 0) await findTogether(scratch, tests, found, open)
    } finally {
      scratch.remove()
    }
    const count = (cell: RegExp): number =>
      mutants.filter((mutant) => cell.test(found.of(mutant))).length
    return { found: count(/`/), notFound: count(/^nothing$/), notMeasured: count(/^\??$/) }
  },
}
