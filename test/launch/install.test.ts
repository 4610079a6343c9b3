// What stands before every command: it installs once, whoever else does, and says what is in its way.

import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
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
  const started = `#!/bin/sh\nexec "$NODE_HERE" "${folder}/bin/npm-cli.cjs" "$@"\n`
  writeFileSync(join(folder, 'bin/npm'), started, { mode: 0o700 })
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true }))

/** Runs it from another folder, as under npm unless `env` says otherwise. */
function install(env: Record<string, string> = {}): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [join(folder, 'scripts/install.mjs')], {
    cwd: tmpdir(),
    env: { NODE_HERE: process.execPath, npm_execpath: join(folder, 'bin/npm-cli.cjs'), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => (said += text))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
}

const passes = () => readFileSync(join(folder, 'npm.log'), 'utf8').trim().split('\n')
const put = (name: string, text: string) => {
  mkdirSync(join(folder, 'node_modules/half'), { recursive: true })
  writeFileSync(join(folder, 'node_modules', name), text)
}

test('every command of package.json begins with it', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const commands = Object.keys(scripts).filter((name) => !name.startsWith('pre'))
  expect(commands).toContain('feed')
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

test('installs what Weir is built with, also where the environment is one of production', async () => {
  expect((await install({ NODE_ENV: 'production' })).code).toBe(0)
})

test('two commands at once install once', async () => {
  const both = await Promise.all([install(), install()])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  expect(passes()).toHaveLength(2)
  expect(both.map(({ said }) => said).sort()).toEqual([
    expect.stringMatching(/^Another command \(process \d+\) installs/),
    expect.stringMatching(/^Installing packages/),
  ])
})

test('what a killed install left is begun anew, by one of two', async () => {
  put('.weir-installing', String(2 ** 30))
  put('half/package.json', '{}')
  expect((await Promise.all([install(), install()])).map(({ code }) => code)).toEqual([0, 0])
  expect([existsSync(join(folder, 'node_modules/half')), passes().length]).toEqual([false, 2])
})

test('nobody waits for a lock that nobody wrote, or for its own: pids are used again, in a container always', async () => {
  put('.weir-installing', '')
  expect((await install()).code).toBe(0)
  writeFileSync(join(folder, 'package.json'), '{"dependencies":{}}')
  const bash = `printf %s $$ > node_modules/.weir-installing; exec "${process.execPath}" scripts/install.mjs`
  const env = { NODE_HERE: process.execPath, npm_execpath: join(folder, 'bin/npm-cli.cjs') }
  expect(spawnSync('sh', ['-c', bash], { cwd: folder, env, timeout: 20_000 }).status).toBe(0)
  expect(passes()).toHaveLength(4)
})

test('what an npm that was killed left is begun anew', async () => {
  put('half/package.json', '{}')
  expect(await install({ STUB: 'is killed' })).toEqual({ code: 1, said: expect.stringMatching(/ended by SIGKILL/) })
  expect((await install()).code).toBe(0)
  expect(existsSync(join(folder, 'node_modules/half'))).toBe(false)
})

test('works without npm around it, by the npm of the PATH', async () => {
  expect((await install({ npm_execpath: '', PATH: join(folder, 'bin') })).code).toBe(0)
  expect(passes()).toHaveLength(2)
  expect((await install({ npm_execpath: '/usr/lib/yarn.js', PATH: join(folder, 'bin') })).code).toBe(0)
})

test.each([
  ['npm fails', { STUB: 'fails' }, /The packages were not installed.*reaches it.*run the same command again\.\n$/],
  ['npm runs no scripts', { STUB: 'no scripts' }, /npm ran no install scripts.*ignore-scripts\)\.\n$/],
  ['there is no npm', { npm_execpath: '', PATH: '' }, /npm could not be run \(ENOENT\)/],
])('says what to do where %s, and tries again the next time', async (_, env, sentence) => {
  put('half/package.json', '{}')
  expect(await install(env)).toEqual({ code: 1, said: expect.stringMatching(sentence) })
  expect((await install()).code).toBe(0)
  // npm has cleaned up after itself: what stood there before stays.
  expect(existsSync(join(folder, 'node_modules/half'))).toBe(true)
})

test('says that a Node is too old', async () => {
  const old = join(folder, 'bin/old.cjs')
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '16.20.2' } })")
  const { code, said } = await install({ NODE_OPTIONS: `--require "${old}"` })
  expect([code, said]).toEqual([1, expect.stringMatching(/^Weir starts with Node 18 or newer, and this is v/)])
  expect(existsSync(join(folder, 'node_modules'))).toBe(false)
})

test('says where it cannot write', async () => {
  writeFileSync(join(folder, 'node_modules'), '')
  expect(await install()).toEqual({
    code: 1,
    said: expect.stringMatching(/^Packages cannot be written into .*node_modules/),
  })
})
