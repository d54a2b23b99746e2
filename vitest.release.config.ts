import { defineConfig } from 'vitest/config'
import full from './vitest.config.js'

/**
 * What `.ci/run` tests beside `npm test`, such as the conformance cases against broken stores and on the oldest
 * supported Postgres: `npm run test:release`.
 */
export default defineConfig({
  ...full,
  test: {
    ...full.test,
    include: [
      'test/**/*.release.test.ts',
      // Other random values than in `npm test`, and more of them.
      'test/property/{*-agree,handed-over,index-agrees,query}.test.ts',
    ],
    exclude: [],
    env: { DAYBOOK_TEST_RUNS: '2' },
    globalSetup: ['./test/support/global-temp.ts', './test/support/global-release.ts'],
  },
})
