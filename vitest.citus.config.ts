import { defineConfig } from 'vitest/config'
import full from './vitest.config.js'

/** The conformance cases and tests of moves on a cluster of Citus: `npm run test:citus`. */
export default defineConfig({
  ...full,
  test: {
    ...full.test,
    include: ['test/conformance/citus.test.ts', 'test/citus/*.test.ts'],
    exclude: [],
    globalSetup: [
      './test/support/global-temp.ts',
      './test/support/global-compiled.ts',
      './test/support/global-citus.ts',
    ],
    // Each move, and each schema that is made or dropped, takes locks on all nodes.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
