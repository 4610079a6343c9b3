// The packages of programs as files: each is installed from its file into an empty folder, where the lines of its README
// run. The client and the Python package are in package.test.ts.

import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { installFault } from '../installed.ts'
import { Gateway } from '../kit/gateway.ts'
import { type Program, ROOT, runCommand, scratch } from '../kit/program.ts'
import { SYSTEM_ENV } from '../kit/system-env.ts'
import { until } from '../kit/until.ts'
import { manifestOf } from './package/bundle.ts'

/** An install downloads 100 MB. */
const TIMEOUT_MS = 300_000
const WAIT = { withinMs: 120_000, everyMs: 100 }
const { version } = manifestOf(ROOT)
/** The environment with the Node of the tests before the system's. */
const NEWEST_NODE = { ...SYSTEM_ENV, PATH: process.env.PATH ?? '' }
const { path: place, remove } = scratch()
/** Why a package is not installed. */
const faults = new Map<string, string | null>()

/** The lines of the README of a package, without comments. */
const readmeLines = (name: string) => {
  const [, block = ''] =
    /^```sh\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, `packages/${name}/README.md`), 'utf8')) ?? []
  return block
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, ''))
}

/** Runs the first line of the README of a package, which installs it, in a folder that has only its file. */
function install(name: string): void {
  const [line = ''] = readmeLines(name)
  const [command = '', ...args] = line.split(' ')
  const file = basename(args.at(-1) ?? '')
  const folder = join(place, name)
  mkdirSync(folder)
  copyFileSync(join(ROOT, 'dist/packages', file), join(folder, file))
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1', '--loglevel=error']
  const npm = spawnSync(command, [...args, ...quiet], { cwd: folder, env: SYSTEM_ENV, encoding: 'utf8' })
  const fault = installFault(npm)
  if (fault !== null) console.error(`SKIPPED: the installed package ${name}: ${fault}`)
  faults.set(name, fault)
}

/** Starts a command of an installed package. Its process group is ended with the test. */
function start(name: string, args: readonly string[], env: NodeJS.ProcessEnv = NEWEST_NODE): Program {
  const more = { cwd: join(place, name), detached: true, env }
  const program = runCommand('npx', args, {}, more)
  onTestFinished(() => program.end())
  return program
}

/** What a command of an installed package prints. */
const output = (name: string, args: readonly string[], env: NodeJS.ProcessEnv = NEWEST_NODE) =>
  execFileSync('npx', args, { cwd: join(place, name), env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** The arguments of the line of a README that starts with these words, with other values. */
function argsOf(name: string, words: string, values: Readonly<Record<string, string>> = {}): string[] {
  const line = readmeLines(name).find((text) => text.includes(`npx ${words}`)) ?? ''
  const [, args = ''] = /npx (.*)$/.exec(line) ?? []
  expect(args).not.toBe('')
  return args.split(' ').map((arg, i, all) => values[all[i - 1] ?? ''] ?? arg)
}

async function jsonLine<T>(program: Program): Promise<T> {
  return JSON.parse(await program.line((line) => line.startsWith('{'), WAIT.withinMs)) as T
}

async function expectPaidCall(gateway: Gateway, key: string): Promise<void> {
  await until(async () => (await gateway.info(key, { type: 'allMids' })).ok, 'there are no books', WAIT)
  const answer = await gateway.info(key, { type: 'l2Book', coin: 'BTC' })
  expect([answer.status, answer.headers.get('x-credits-cost')]).toEqual([200, '1'])
}

beforeAll(() => {
  execFileSync(process.execPath, [join(ROOT, 'scripts/build-programs.ts')], { stdio: ['ignore', 'ignore', 'inherit'] })
  for (const name of ['weir', 'feeder']) install(name)
}, TIMEOUT_MS)
afterAll(remove)

describe('the installed package weir', { timeout: TIMEOUT_MS }, () => {
  it('runs under the Node of the system and under the newest one', ({ skip }) => {
    skip(faults.get('weir') !== null)
    for (const env of [SYSTEM_ENV, NEWEST_NODE]) expect(output('weir', ['weir', '--version'], env)).toBe(version)
  })

  it('runs the demo under the Node of the system', async ({ skip }) => {
    skip(faults.get('weir') !== null)
    const demo = start('weir', [...argsOf('weir', 'weir demo'), '--json'], { ...SYSTEM_ENV, PORT: '0' })
    const { url, key } = await jsonLine<{ url: string; key: string }>(demo)
    await expectPaidCall(new Gateway(url), key)
  })

  it('serves the blocks of both feeders, and a key that the command line made', async ({ skip }) => {
    skip(faults.get('weir') !== null)
    const data = join(place, 'node')
    const devnet = start('weir', ['weir', 'devnet', '--data', data, '--port', '0', '--json'])
    const { url: node } = await jsonLine<{ url: string }>(devnet)
    const more = ['--state', 'served', '--port', '0', '--json']
    const { url } = await jsonLine<{ url: string }>(
      start('weir', [...argsOf('weir', 'weir serve', { '--node': node }), ...more]),
    )
    const gateway = new Gateway(url)
    const running = JSON.parse(readFileSync(join(place, 'weir/served/running.json'), 'utf8')) as { feed_token: string }
    const env = { ...NEWEST_NODE, FEED_TOKEN: running.feed_token }
    const printed = output('weir', [...argsOf('weir', 'weir keys create'), '--state', 'served'])
    const [key = ''] = /\b[a-z]+_\w{20,}/.exec(printed) ?? []

    const values = { '--data': data, '--info': node, '--gateway': url }
    const hasFeeder = faults.get('feeder') === null
    if (hasFeeder) {
      expect(output('feeder', ['weir-feeder', '--help'])).toContain('--gateway')
      const feeder = start('feeder', argsOf('feeder', 'weir-feeder', values), env)
      await expectPaidCall(gateway, key)
      await feeder.end()
    }
    const { height } = await gateway.status()
    start('weir', ['weir', 'feed', ...Object.entries(values).flat()], env)
    const isFed = async () => ((await gateway.status()).height ?? 0) > (height ?? 0)
    await until(isFed, 'weir feed sends no blocks', WAIT)
    await expectPaidCall(gateway, key)
    expect(output('weir', [...argsOf('weir', 'weir doctor'), '--state', 'served'])).not.toBe('')
  })
})
