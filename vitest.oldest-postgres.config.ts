import { defineConfig } from 'vitest/config'
import full from './vitest.config.js'

/** The conformance cases on the oldest supported Postgres: `npm run test:oldest-postgres`. */
export default defineConfig({
  ...full,
  test: {
    ...full.test,
    include: ['test/conformance/oldest-postgres.test.ts'],
    exclude: [],
    globalSetup: ['./test/support/global-temp.ts', './test/support/global-compiled.ts'],
  },
})
