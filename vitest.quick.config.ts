import { defineConfig } from 'vitest/config'
import full from './vitest.config.js'

/** What runs while one works: no Postgres, no browser and no built page. A test that needs one fails here. */
export default defineConfig({
  ...full,
  test: {
    ...full.test,
    include: ['test/unit/**/*.test.ts', 'test/conformance/memory.test.ts'],
    globalSetup: [],
  },
})
