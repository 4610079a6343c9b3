// Ends a test run with one plain line of true counts, which .ci/run and people read; where `npm test` runs two at once, it tells that.

import type { Reporter, SerializedError, TestModule } from 'vitest/node'

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export function countsText({ passed, failed, skipped }: Counts): string {
  return `\n${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`
}

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
    if (process.send) process.send(counts)
    else console.log(countsText(counts))
  }
}
