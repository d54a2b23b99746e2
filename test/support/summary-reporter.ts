import type { Reporter, TestModule } from 'vitest/node'

/** Ends the run with one plain line that any tool can read: `12 passed, 0 failed, 1 skipped`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      // A file that cannot be loaded has no tests to fail.
      if (module.errors().length > 0) counts.failed++
      for (const test of module.children.allTests()) counts[test.result().state]++
    }
    const { passed, failed, skipped } = counts
    // After the default reporter's own summary.
    process.once('exit', () =>
      console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`),
    )
  }
}
