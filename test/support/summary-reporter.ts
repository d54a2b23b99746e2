import type { Reporter, TestModule } from 'vitest/node'

/** Prints one plain line for other tools at the end of the run: `12 passed, 0 failed, 1 skipped`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      // A file that cannot be loaded has no failed tests.
      if (module.errors().length > 0) counts.failed++
      for (const test of module.children.allTests()) counts[test.result().state]++
    }
    const { passed, failed, skipped } = counts
    // After the summary of the default reporter.
    process.once('exit', () =>
      console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`),
    )
  }
}
