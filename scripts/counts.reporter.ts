// Prints a list of failures and one line of counts at the end of a test run, for .ci/run and for people. `npm test` runs
// several vitest processes. It receives their results as messages and prints them at the end.

import type { Reporter, SerializedError, TestModule } from 'vitest/node'

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: readonly FailedTest[]
}

interface Report extends Counts {
  /** Names of the tests that passed, and files of which no test failed. */
  readonly passes: readonly string[]
}

export interface FailedTest {
  /** Null: the error was outside of a test file. */
  readonly file: string | null
  readonly name: string
  /** The first lines of its error (a browser's error names the element in the third), and its place. */
  readonly error: string
}

export function countsText({ passed, failed, skipped, failures }: Counts): string {
  return [
    '',
    ...failures.map((failure) => `FAILED ${failureText(failure)}`),
    `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`,
  ].join('\n')
}

export const failureText = ({ name, error }: FailedTest) => `${name}${error === '' ? '' : `: ${error}`}`

const oneLine = (value: string) => value.replace(/\s+/g, ' ').slice(0, 300)

const errorText = (errors: readonly SerializedError[] | undefined) => {
  const { message = '', stack = '', actual }: Partial<SerializedError & { actual: unknown }> = errors?.[0] ?? {}
  const place = /\btest\/\S+\.ts:\d+/.exec(stack)?.[0]
  const text = message
    .split('\n')
    .slice(0, 4)
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' ')
  // Only the type of a compared array or object is in the message.
  const got = typeof actual === 'string' && /\b(?:Array\(|Object \{)/.test(text) ? `, got ${oneLine(actual)}` : ''
  return `${text}${got}${place === undefined ? '' : ` (${place})`}`
}

export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    const passes: string[] = []
    const failures: FailedTest[] = unhandled.map((error) => ({
      file: null,
      name: 'outside of a test',
      error: errorText([error]),
    }))
    for (const module of modules) {
      const before = counts.failed
      const { relativeModuleId: file } = module
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result()
        const name = `${file} > ${test.fullName}`
        counts[state]++
        if (state === 'passed') passes.push(name)
        if (state === 'failed') failures.push({ file, name, error: errorText(errors) })
      }
      // A module that could not be loaded has no failed test, but it did fail.
      if (module.state() === 'failed' && counts.failed === before) {
        counts.failed++
        failures.push({ file, name: file, error: errorText(module.errors()) })
      }
      if (module.state() === 'passed') passes.push(file)
    }
    counts.failed += counts.pending
    const report: Report = { ...counts, failures, passes }
    if (process.send) process.send(report)
    else console.log(countsText(report))
  }
}
