// What stands before every command: it installs once, whoever else does, and says what is in its way.

import { spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
/**
 * Stands for npm: notes the Node it runs under, brings a Node where scripts may run and nothing is left out, and ends as
 * it is told to.
 */
const NPM = `
const { appendFileSync, mkdirSync, symlinkSync, existsSync } = require('node:fs')
appendFileSync('npm.log', process.argv[2] + ' under ' + process.argv0 + '\\n')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
const isOmitted = process.env.NODE_ENV === 'production' && !process.argv.includes('--include=dev')
if (process.env.STUB !== 'no scripts' && !isOmitted && !existsSync('node_modules/node')) {
  mkdirSync('node_modules/node/bin', { recursive: true })
  symlinkSync(process.env.NODE_HERE, 'node_modules/node/bin/node')
}
if (process.env.STUB === 'is killed') process.kill(process.pid, 'SIGKILL')
process.exit(process.env.STUB === 'fails' ? 1 : 0)
`

let folder = ''
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'weir-install-')), 'my weir é')
  mkdirSync(join(folder, 'scripts'), { recursive: true })
  copyFileSync(join(ROOT, 'scripts/install.mjs'), join(folder, 'scripts/install.mjs'))
  writeFileSync(join(folder, 'package.json'), '{}')
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/npm-cli.cjs'), NPM)
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true }))

/** Runs it as npm does. */
function install(env: Record<string, string> = {}): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, ['scripts/install.mjs'], {
    cwd: folder,
    env: { NODE_HERE: process.execPath, npm_execpath: join(folder, 'bin/npm-cli.cjs'), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => (said += text))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
}

const passes = () => readFileSync(join(folder, 'npm.log'), 'utf8').trim().split('\n')
/** What an install that a process with this pid began left behind. */
function leaveHalf(pid: number): void {
  mkdirSync(join(folder, 'node_modules/half'), { recursive: true })
  symlinkSync(String(pid), join(folder, 'node_modules/.weir-installing'))
}
const isHalfThere = () => existsSync(join(folder, 'node_modules/half'))

test('every command of package.json begins with it', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const commands = Object.keys(scripts).filter((name) => !name.startsWith('pre'))
  expect(commands).toContain('bench')
  for (const name of commands) expect([name, scripts[`pre${name}`]]).toEqual([name, 'node scripts/install.mjs'])
})

test('installs in two passes, once, and again when the packages change', async () => {
  expect(await install()).toEqual({ code: 0, said: expect.stringMatching(/^Installing packages/) })
  expect(passes()).toEqual([`install under ${process.execPath}`, 'install under node_modules/node/bin/node'])
  expect(await install()).toEqual({ code: 0, said: '' })
  writeFileSync(join(folder, 'package.json'), '{"dependencies":{}}')
  await install()
  expect(passes()).toHaveLength(4)
})

test('installs build dependencies even if NODE_ENV is production', async () => {
  expect((await install({ NODE_ENV: 'production' })).code).toBe(0)
})

test('two concurrent commands install once', async () => {
  const both = await Promise.all([install(), install()])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  expect(both.map(({ said }) => said).sort()).toEqual(['', expect.stringMatching(/^Installing packages/)])
  expect(passes()).toHaveLength(2)
})

test('an install that was killed is started again', async () => {
  leaveHalf(2 ** 22 + 1)
  expect((await install()).code).toBe(0)
  expect([isHalfThere(), passes().length]).toEqual([false, 2])
})

test('a lock with the pid of this process is ignored, because containers reuse pids', () => {
  const bash = `mkdir -p node_modules/half; ln -s $$ node_modules/.weir-installing; exec "${process.execPath}" scripts/install.mjs`
  const env = { NODE_HERE: process.execPath, npm_execpath: join(folder, 'bin/npm-cli.cjs'), PATH: process.env.PATH }
  expect(spawnSync('sh', ['-c', bash], { cwd: folder, env, timeout: 20_000 }).status).toBe(0)
  expect([isHalfThere(), passes().length]).toEqual([false, 2])
})

test.each([
  ['npm is killed', { STUB: 'is killed' }, false],
  ['npm fails', { STUB: 'fails' }, true],
  ['npm runs no scripts', { STUB: 'no scripts' }, false],
])('if %s, it says what to check, and starts again the next time', async (_, env, isKept) => {
  mkdirSync(join(folder, 'node_modules/half'), { recursive: true })
  expect(await install(env)).toEqual({
    code: 1,
    said: expect.stringMatching(/No packages were installed\. .*again\.\n$/),
  })
  expect((await install()).code).toBe(0)
  // An npm that ends by itself has cleaned up: what stood there before stays.
  expect(isHalfThere()).toBe(isKept)
})

test('reports that Node is too old', async () => {
  const old = join(folder, 'bin/old.cjs')
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '16.20.2' } })")
  const { code, said } = await install({ NODE_OPTIONS: `--require "${old}"` })
  expect([code, said]).toEqual([1, expect.stringContaining('Node 18 or newer')])
  expect(existsSync(join(folder, 'node_modules'))).toBe(false)
})

test('reports where it cannot write', async () => {
  writeFileSync(join(folder, 'node_modules'), '')
  expect(await install()).toEqual({ code: 1, said: expect.stringContaining('node_modules cannot be written') })
})
