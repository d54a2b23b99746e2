import { defineConfig } from 'vitest/config'
import full from './vitest.config.js'

/**
 * The conformance cases and the tests of the SQLite store on `node:sqlite`, as in an installation without
 * better-sqlite3: `npm run test:node-sqlite`.
 */
export default defineConfig({
  ...full,
  test: {
    ...full.test,
    include: [
      'test/conformance/sqlite.test.ts',
      'test/stores/sqlite/{capture,damage,driver,files,journal,migration,outbox,sealer,sqlite-store,subject-keys,watch}.test.ts',
    ],
    globalSetup: ['./test/support/global-temp.ts', './test/support/global-compiled.ts'],
  },
})
