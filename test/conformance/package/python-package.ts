// The Python package as it is published: built twice with equal bytes, installed from each file alone into a fresh
// environment, where the lines of its README run against the gateway.

import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildPython, findPython } from '../../../scripts/build-python.ts'
import { exchange } from './exchange.ts'

const ROOT = join(import.meta.dirname, '../../..')
const BLOCK = /^```python\n(.*?)^```$/gms
/** Also builds, installs and has the dependencies. pip without an index finds nothing else. */
const python = findPython('hatchling', 'venv', 'ensurepip', 'httpx', 'websockets')
const TIMEOUT_MS = 180_000

if (python === undefined)
  console.error("SKIPPED: the built Python package: needs Debian's python3-hatchling and python3-venv")

/** Runs a command, and returns what it prints. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: exchange.folder,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: '', ...env },
    encoding: 'utf8',
  })
  expect(status, `${command} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0)
  return stdout
}

describe.skipIf(python === undefined)('the built Python package', () => {
  let files: ReturnType<typeof buildPython>

  beforeAll(() => {
    files = buildPython(join(exchange.folder, 'first'))
  }, TIMEOUT_MS)

  it('has equal bytes each time', { timeout: TIMEOUT_MS }, () => {
    const again = buildPython(join(exchange.folder, 'second'))
    for (const kind of ['wheel', 'sdist'] as const) {
      expect(basename(again[kind])).toBe(basename(files[kind]))
      expect(readFileSync(again[kind]).equals(readFileSync(files[kind]))).toBe(true)
    }
  })

  it.each(['wheel', 'sdist'] as const)('runs its README from the %s alone', { timeout: TIMEOUT_MS }, (kind) => {
    const folder = join(exchange.folder, `python ${kind}`)
    mkdirSync(folder)
    run(python!, ['-m', 'venv', '--system-site-packages', folder])
    const own = join(folder, 'bin/python')
    const offline = ['--no-index', '--no-deps', '--no-build-isolation', '--quiet']
    run(own, ['-m', 'pip', 'install', ...offline, files[kind]])
    const installed = globSync('lib/python*/site-packages/weir*/**/*', { cwd: folder }).map((path) => basename(path))
    expect(installed).toEqual(expect.arrayContaining(['__init__.py', 'py.typed', 'METADATA', 'LICENSE']))
    expect(run(own, ['-c', 'import weir; print(weir.__file__)'])).toContain(`${folder}/lib/`)
    const env = { WEIR_URL: exchange.gateway.url, WEIR_KEY: exchange.key }
    const blocks = [...readFileSync(join(ROOT, 'packages/python/README.md'), 'utf8').matchAll(BLOCK)].map(
      ([, block = '']) => block,
    )
    const hasPandas = findPython('pandas') !== undefined
    const printed = blocks
      .filter((block) => hasPandas || !block.includes('to_df'))
      .map((block) => run(own, ['-c', block], env))
    expect(printed[0]).toMatch(/^\{'px': '[\d.]+'.* 1 [\d.]+\n(BTC .*\n)*BTC in step \(\[\{'px'/)
    expect(printed[1]).toMatch(/^\{'channel': 'allFills'/)
    if (hasPandas) expect(printed[2]).toMatch(/^ +t +c +v\n0 +\d{4}-\d\d-\d\d \d\d:\d\d:00\+00:00 +[\d.]+ +[\d.]+/)
  })
})
