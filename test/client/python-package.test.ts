// The Python package: its own tests, its types, and what it shares with this repository.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findPython } from '../../scripts/build-python.ts'
import { PYTHON, runPython } from '../conformance/package/python.ts'

const ROOT = join(import.meta.dirname, '../..')
const PACKAGE = join(ROOT, 'packages/python')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const typedPython = findPython('mypy', 'httpx', 'websockets')
if (typedPython === undefined) console.error("SKIPPED: types of the Python package: needs Debian's mypy")

it.skipIf(PYTHON === undefined)('passes its own tests', async () => {
  const program = `
import json, sys, unittest
result = unittest.TextTestRunner(stream=sys.stderr).run(unittest.defaultTestLoader.discover('tests', top_level_dir='.'))
failed = [text for _, text in result.failures + result.errors]
json.dump({'ran': result.testsRun, 'failed': failed, 'skipped': sorted({why for _, why in result.skipped})}, sys.stdout)
`
  const { ran, failed, skipped } = JSON.parse(await runPython(['-c', program], '', PACKAGE)) as {
    ran: number
    failed: string[]
    skipped: string[]
  }
  for (const why of skipped) console.error(`SKIPPED: tests of the Python package: ${why}`)
  expect(failed).toEqual([])
  expect(ran).toBeGreaterThan(40)
})

it.skipIf(typedPython === undefined)('is typed strictly, for the oldest supported Python', () => {
  const mypy = spawnSync(typedPython!, ['-m', 'mypy', '--cache-dir=/dev/null', 'src'], {
    cwd: PACKAGE,
    encoding: 'utf8',
  })
  expect(mypy.stdout + mypy.stderr).toMatch(/^Success: no issues found in \d+ source files\n$/)
})

it('has the version and the license of the repository', () => {
  const [, version] = /^version = "(.*)"$/m.exec(read('packages/python/pyproject.toml')) ?? []
  expect(version).toBe((JSON.parse(read('package.json')) as { version: string }).version)
  expect(read('packages/python/LICENSE')).toBe(read('LICENSE'))
})
