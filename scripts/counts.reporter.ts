// Ends a test run with one plain line of true counts, which .ci/run and people read.

import type { Reporter, SerializedError, TestModule } from 'vitest/node'

export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const before = counts.failed
      for (const test of module.children.allTests()) counts[test.result().state]++
      // A module that could not be loaded has no failed test, but it did fail.
      if (module.state() === 'failed' && counts.failed === before) counts.failed++
    }
    counts.failed += counts.pending
    console.log(
      `\n${counts.passed} passed, ${counts.failed} failed${counts.skipped ? `, ${counts.skipped} skipped` : ''}`,
    )
  }
}
