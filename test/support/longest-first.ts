import fs from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that are slow for their size, because they start processes, servers or the whole demo, run the cases of
 * another file or rounds of a campaign, or check the views or numbers of the page, random command lines, or images of
 * power cuts.
 */
const LONG =
  /\b(?:runScript|useProcesses|startOwnPostgres|createWorld|openSealedStores|describeStore|describeHostile|describeSealer|checkArguments|checkViews|compareNumbers|crashLog)\b|\/campaigns\//

/**
 * Starts the slow files first, so that no slow file runs alone at the end. Vitest sorts by the durations of an
 * earlier run, or by size if there is none, as on a fresh machine.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort.call(this, files)
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.test(fs.readFileSync(moduleId, 'utf8'))
    const long = new Set(bySize.filter(isLong))
    return [...long, ...bySize.filter((file) => !long.has(file))]
  }
}
