import fs from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What makes a file take long for its size: processes, servers of its own, all cases of the conformance. */
const LONG = /\b(?:runScript|startOwnPostgres|describeStore)\b/

/**
 * Starts the long files first, so that no worker is left with one at the end. Vitest goes by durations where
 * it has some of an earlier run, and by size where it has none, as on a fresh machine.
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
