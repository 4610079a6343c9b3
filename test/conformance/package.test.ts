// The published client package: in every runtime against a whole gateway, in a fresh project, and its size. Public SDKs
// call the same gateway first.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { cutProxy } from '../kit/cut-proxy.ts'
import type { World } from '../kit/gateway.ts'
import { startServer } from '../kit/http-server.ts'
import { bundleOf, PACKAGE } from './package/bundle.ts'
import './package/clients.ts'
import type { Settings } from './package/contract.ts'
import { exchange } from './package/exchange.ts'
import './package/python-package.ts'
import { PYTHON, runPython } from './package/python.ts'
import { RUNTIMES } from './package/runtimes.ts'

const ROOT = join(import.meta.dirname, '../..')
const CORE_MAX = 12 * 1024
const BOOKS_MAX = 16 * 1024

let world: World
let folder: string
let past: Settings['past']
const closing: (() => void)[] = []

if (PYTHON === undefined)
  console.error("SKIPPED: the Python package: needs Debian's python3-websockets and python3-httpx")

beforeAll(() => {
  world = exchange.gateway
  folder = exchange.folder
  const begun = Date.now()
  past = { fromTime: begun + 1_000, toTime: begun + 8_000 }
})
afterAll(() => {
  for (const close of closing) close()
})

/** Each program with a way of its own, which it may cut, and an account, of which only four replays may run. */
async function settingsOf(): Promise<Settings> {
  const proxy = await cutProxy(world.url)
  const control = await startServer((_, response) => {
    proxy.cut()
    proxy.restore()
    response.setHeader('access-control-allow-origin', '*').end('cut')
  })
  closing.push(control.close, proxy.close)
  return { url: proxy.url, key: await world.newKey('1000000'), past, cut: `${control.url}/` }
}

describe('published', () => {
  it('installs into a fresh project with types', { timeout: 120_000 }, () => {
    const fresh = join(folder, 'fresh')
    mkdirSync(fresh)
    const npm = (cwd: string, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('npm', [...args, '--loglevel=error'], { cwd, encoding: 'utf8' })
      expect(status, stderr).toBe(0)
      return stdout
    }
    const [{ filename }] = JSON.parse(npm(PACKAGE, 'pack', '--json', '--pack-destination', fresh)) as [
      { filename: string },
    ]
    writeFileSync(join(fresh, 'package.json'), '{"name":"fresh","private":true,"type":"module"}')
    npm(fresh, 'install', '--offline', '--no-audit', '--no-fund', `./${filename}`)
    cpSync(join(import.meta.dirname, 'package/use.mts'), join(fresh, 'use.mts'))
    const compiler = {
      strict: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom'],
      noEmit: true,
      types: [],
    }
    writeFileSync(join(fresh, 'tsconfig.json'), JSON.stringify({ compilerOptions: compiler }))
    const tsc = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', fresh], { encoding: 'utf8' })
    expect(tsc.stdout).toBe('')
    const env = { ...process.env, WEIR_URL: world.url, WEIR_KEY: exchange.key }
    const ran = spawnSync(process.execPath, ['use.mts'], { cwd: fresh, env, encoding: 'utf8' })
    expect(ran.stderr).toBe('')
    expect(ran.stdout).toMatch(/^1 credit, in step\n$/)
  })

  it.each([
    ["export { createClient } from 'weir-client'", CORE_MAX],
    ["export { createClient } from 'weir-client'\nexport { openBooks } from 'weir-client/books'", BOOKS_MAX],
  ])('%s is small and needs no zod', async (program, most) => {
    const entry = join(folder, 'entry.js')
    writeFileSync(entry, program)
    const bundle = await bundleOf(entry, true)
    const bytes = gzipSync(bundle, { level: 9 }).length
    console.error(`${program.includes('openBooks') ? 'core and books' : 'core'}: ${bytes} bytes gzipped`)
    expect(bytes).toBeLessThanOrEqual(most)
    expect(bundle).not.toMatch(/from\s*["']zod["']/)
  })

  it('has its exports and no import side effects', async () => {
    const { default: manifest } = await import(join(PACKAGE, 'package.json'), { with: { type: 'json' } })
    expect(manifest).toMatchObject({
      name: 'weir-client',
      type: 'module',
      sideEffects: false,
      engines: { node: '>=22' },
    })
    const entry = join(folder, 'nothing.js')
    writeFileSync(entry, "import 'weir-client'\nimport 'weir-client/books'\nexport const one = 1")
    expect((await bundleOf(entry, true)).length).toBeLessThan(200)
  })
})

// Behind the others, because what they replay is archived within a minute; beside each other, because they mostly wait.
describe('the contract', () => {
  let module: string
  beforeAll(async () => {
    module = await bundleOf(join(import.meta.dirname, 'package/contract.ts'))
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(past.toTime), { timeout: 30_000 })
  })

  it.concurrent.each(Object.keys(RUNTIMES))('%s', { timeout: 300_000 }, async (name) => {
    const own = join(folder, name)
    mkdirSync(own)
    const found = await RUNTIMES[name]!(module, await settingsOf(), own)
    if (typeof found === 'string') {
      console.error(`SKIPPED: the client package in ${name}: ${found}`)
      return
    }
    console.error(name, JSON.stringify(Object.values(found).map(({ ms }) => ms)))
    expect(Object.entries(found).filter(([, { failure }]) => failure !== null)).toEqual([])
    expect(Object.keys(found).length).toBeGreaterThan(8)
  })

  it.skipIf(PYTHON === undefined)('Python', { timeout: 300_000, concurrent: true }, async () => {
    const { url, key, cut } = await settingsOf()
    const args = [join(import.meta.dirname, 'package/contract.py'), url, key, cut, JSON.stringify(past)]
    const found = JSON.parse(await runPython(args))
    expect(Object.entries(found).filter(([, failure]) => failure !== null)).toEqual([])
    expect(Object.keys(found)).toHaveLength(12)
  })
})
