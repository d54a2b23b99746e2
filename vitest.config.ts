import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { compiledSources } from './test/support/compiled-sources.js'
import LongestFirst from './test/support/longest-first.js'
import tsconfig from './tsconfig.json' with { type: 'json' }

/** Tests and examples import `daybook` as users do; here the names lead to the sources. */
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(file!, import.meta.url)),
}))

const v8Flags = [
  // The young generation has its full size at once. While it grew, V8 collected garbage more often, and copied most
  // modules; this took a tenth of the processor time.
  '--min-semi-space-size=16',
  // V8 optimizes functions later than by default: most code of the tests runs too briefly to repay the optimization,
  // which took a tenth of the processor time. Node 24, whose flag has another name, gained nothing.
  ...(process.versions.node.startsWith('20.') ? ['--interrupt-budget=540672'] : []),
]

export default defineConfig({
  plugins: [compiledSources()],
  resolve: { alias },
  test: {
    include: ['test/**/*.test.ts'],
    // `npm run test:release`, `npm run test:poolers` and `npm run test:citus` run these.
    exclude: [
      'test/**/*.release.test.ts',
      'test/conformance/citus.test.ts',
      'test/poolers/**',
      'test/citus/**',
    ],
    globalSetup: ['./test/support/global-temp.ts', './test/support/global.ts'],
    reporters: ['default', './test/support/summary-reporter.ts'],
    typecheck: { enabled: false },
    // Threads that the code starts run its compiled sources.
    execArgv: [
      ...v8Flags,
      '--import',
      new URL('./test/support/compiled-threads.js', import.meta.url).href,
    ],
    // Two more than the cores of the smallest machine: many tests wait for processes and servers.
    maxWorkers: 4,
    // A third of the time would be spent on loading the same modules again; tests leave nothing behind.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // For what hangs, not for what is slow on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    coverage: {
      provider: 'v8',
      include: ['src/**', 'adapters/**'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
})
