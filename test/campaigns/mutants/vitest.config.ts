import path from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import full from '../../../vitest.config.js'

/** The order of the command line. */
class AsGiven extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number =>
      process.argv.indexOf(path.relative(process.cwd(), moduleId))
    return files.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

const isUnit = process.env['DAYBOOK_MUTANTS_UNIT'] !== undefined

/** Runs test files for the campaign `mutants`. Unit tests need no server, no browser and no built page. */
export default defineConfig({
  ...full,
  test: {
    ...full.test,
    globalSetup: isUnit ? [] : full.test!.globalSetup!,
    sequence: { sequencer: AsGiven },
  },
})
