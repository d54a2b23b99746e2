import { defineConfig } from 'vitest/config'
import full from './vitest.config.js'

/** Tests through a PgBouncer of the system: `npm run test:poolers`. */
export default defineConfig({
  ...full,
  test: {
    ...full.test,
    include: ['test/poolers/*.test.ts'],
    exclude: [],
    globalSetup: ['./test/support/global-temp.ts', './test/support/global-compiled.ts'],
  },
})
