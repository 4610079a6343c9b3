// Prints a list of failures and one line of counts at the end of a test run, for .ci/run and for people. `npm test` runs
// vitest twice. It receives both results as messages and prints them at the end.

import type { Reporter, SerializedError, TestModule } from 'vitest/node'

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Name of each failed test, and the first line of its error. */
  readonly failures: readonly string[]
}

export function countsText({ passed, failed, skipped, failures }: Counts): string {
  return ['', ...failures, `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`].join('\n')
}

const lineOf = (name: string, errors: readonly SerializedError[] | undefined) =>
  `FAILED ${name}: ${errors?.[0]?.message.split('\n', 1)[0]}`

export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    const failures = unhandled.map((error) => lineOf('outside of a test', [error]))
    for (const module of modules) {
      const before = counts.failed
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result()
        counts[state]++
        if (state === 'failed') failures.push(lineOf(`${module.relativeModuleId} > ${test.fullName}`, errors))
      }
      // A module that could not be loaded has no failed test, but it did fail.
      if (module.state() === 'failed' && counts.failed === before) {
        counts.failed++
        failures.push(lineOf(module.relativeModuleId, module.errors()))
      }
    }
    counts.failed += counts.pending
    const report = { ...counts, failures }
    if (process.send) process.send(report)
    else console.log(countsText(report))
  }
}
