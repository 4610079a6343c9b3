// The published client package: in every runtime against a whole gateway, in a fresh project, and its size. Public SDKs
// call the same gateway first.

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { withPackageName } from '../../src/client/package-name.node.ts'
import { openBrowser } from '../browser/browser.ts'
import { missingIn, placeOf } from '../installed.ts'
import { cutProxy } from '../kit/cut-proxy.ts'
import type { World } from '../kit/gateway.ts'
import { startServer } from '../kit/http-server.ts'
import { bundleOf, manifestOf, tarball } from './package/bundle.ts'
import './package/clients.ts'
import type { Settings } from './package/contract.ts'
import { exchange } from './package/exchange.ts'
import { copyProgram, emptyProject, filesOf, type Project, withWebSocket } from './package/project.ts'
import './package/python-package.ts'
import { PYTHON, runPython } from './package/python.ts'
import { COMMANDS, execute, fetchOfWorker, NODE_20, RUNTIMES } from './package/runtimes.ts'

const ROOT = join(import.meta.dirname, '../..')
const CORE_MAX = 12 * 1024
const BOOKS_MAX = 17 * 1024
const TARBALL_MAX = 140 * 1024
const CHECKERS = join(placeOf('packages'), 'node_modules')
const missing = missingIn(placeOf('packages'), join(ROOT, 'test/packages'))

let world: World
let project: Project
let past: Settings['past']
const closing: (() => void)[] = []

if (missing !== null) console.error(`SKIPPED: publint, arethetypeswrong and the oldest compiler: ${missing}`)
if (PYTHON === undefined)
  console.error("SKIPPED: the Python package: needs Debian's python3-websockets and python3-httpx")

beforeAll(() => {
  world = exchange.gateway
  project = emptyProject(join(exchange.folder, 'project'))
  for (const file of ['use.mts', 'use-ws.mts']) copyProgram(project, file)
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

/** A site with the page of the README, the installed package and stream tokens. */
async function pageAnswer(path: string): Promise<[type: string, text: string]> {
  if (path === '/token') {
    const wanted = { coins: ['BTC'], channels: ['l2BookDiff2'], minutes: 15 }
    const answer = await world.call('POST', '/platform/stream-tokens', exchange.key, wanted)
    const { data } = (await answer.json()) as { data: { token: string } }
    return ['application/json', JSON.stringify({ url: world.url, token: data.token })]
  }
  const [, file] = /^\/client\/([\w-]+\.js)$/.exec(path) ?? []
  const shown = file === undefined ? join(project.path, 'page.html') : join(project.client, file)
  return [file === undefined ? 'text/html' : 'text/javascript', readFileSync(shown, 'utf8')]
}

describe('published', () => {
  it('installs without dependencies, with the files that its manifest names', () => {
    const { name, version } = manifestOf(project.client)
    expect(project.installed).toEqual([name])
    expect(version).toBe(manifestOf(ROOT).version)
    const others = filesOf(project).filter((file) => !/\.(js|d\.ts)$/.test(file))
    expect(others).toEqual(['LICENSE', 'README.md', 'package.json'])
    const bytes = statSync(tarball()).size
    console.error(`${basename(tarball())}: ${bytes} bytes`)
    expect(bytes).toBeLessThanOrEqual(TARBALL_MAX)
  })

  const types = { strict: true, noEmit: true, skipLibCheck: false, target: 'es2022' }
  const forNode = { ...types, module: 'nodenext', lib: ['es2022'], types: ['node'] }
  const forBundlers = {
    ...types,
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
  }

  it.concurrent.each([
    ['nodenext', forNode, ['use.mts', 'use-ws.mts']],
    ['bundler', forBundlers, ['use.mts']],
  ])('compiles in a project with %s', { timeout: 120_000 }, async (name, compilerOptions, files) => {
    const config = join(project.path, `tsconfig.${name}.json`)
    writeFileSync(config, JSON.stringify({ compilerOptions, files }))
    for (const modules of [join(ROOT, 'node_modules'), ...(missing === null ? [CHECKERS] : [])])
      expect(await execute([join(modules, '.bin/tsc'), '-p', config], project.path)).toBe('')
  })

  it('runs in a project', async () => {
    const env = { WEIR_URL: world.url, WEIR_KEY: exchange.key }
    expect(await execute([process.execPath, 'use.mts'], project.path, env)).toMatch(/^1 credit, in step\n$/)
  })

  it.skipIf(missing !== null)('has no findings of publint and arethetypeswrong', { timeout: 60_000 }, async () => {
    const run = (name: string, ...args: string[]) =>
      execute([process.execPath, join(CHECKERS, '.bin', name), ...args], project.path)
    expect(await run('publint', '--strict', tarball())).toContain('All good!')
    // It has no CommonJS files. A finding is a failure of the command.
    const { analysis } = JSON.parse(await run('attw', tarball(), '--profile', 'esm-only', '--format', 'json'))
    expect(Object.keys(analysis.entrypoints)).toEqual(['.', './books', './schemas'])
  })

  const one = "export { createClient } from '@weir/client'"
  it.each([
    [one, CORE_MAX],
    [`${one}\nexport { openBooks } from '@weir/client/books'`, BOOKS_MAX],
  ])('%s is small and needs no zod', async (program, most) => {
    const entry = join(project.path, 'entry.js')
    writeFileSync(entry, withPackageName(program))
    const bundle = await bundleOf(entry, true)
    const bytes = gzipSync(bundle, { level: 9 }).length
    console.error(`${program.includes('openBooks') ? 'core and books' : 'core'}: ${bytes} bytes gzipped`)
    expect(bytes).toBeLessThanOrEqual(most)
    expect(bundle).not.toMatch(/from\s*["']zod["']/)
  })

  it('has no import side effects', async () => {
    const entry = join(project.path, 'nothing.js')
    writeFileSync(entry, withPackageName("import '@weir/client'\nimport '@weir/client/books'\nexport const one = 1"))
    expect((await bundleOf(entry, true)).length).toBeLessThan(200)
  })
})

// Behind the others, because what they replay is archived within a minute; beside each other, because they mostly wait.
describe('the contract', () => {
  let module: string
  beforeAll(async () => {
    module = await bundleOf(copyProgram(project, 'contract.ts'))
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(past.toTime), { timeout: 30_000 })
  })

  it.concurrent.each(Object.keys(RUNTIMES))('%s', { timeout: 300_000 }, async (name) => {
    const own = join(project.path, name)
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

  it.concurrent.each(Object.keys(COMMANDS))('programs of the README in %s', { timeout: 300_000 }, async (name) => {
    const command = COMMANDS[name]!()
    if (typeof command === 'string') {
      console.error(`SKIPPED: the README of the client package in ${name}: ${command}`)
      return
    }
    const env = { WEIR_URL: world.url, WEIR_KEY: await world.newKey('1000') }
    const run = (file: string, ...args: string[]) => {
      const program = name === NODE_20 && file !== 'schemas.mjs' ? withWebSocket(project, file) : file
      return execute([...command, program, ...args], project.path, env)
    }
    expect(await run('book.mjs')).toMatch(/^BTC [\d.]+ [\d.]+ at block \d+, verified\n$/)
    expect(await run('errors.mjs')).toMatch(/^invalid_request 422 null req_\S+\n$/)
    expect(await run('schemas.mjs')).toMatch(/BTC: ["']81307.0["']/)
    expect(await run('replay.mjs', `${past.fromTime}`, `${past.toTime}`)).toMatch(/^finished after [1-9]\d* trades\n$/)
  })

  it('Node 20 requires a WebSocket for streams, and says so', async ({ skip }) => {
    const command = COMMANDS[NODE_20]!()
    if (typeof command === 'string') return skip()
    const env = { WEIR_URL: world.url, WEIR_KEY: exchange.key }
    expect(await execute([...command, 'errors.mjs'], project.path, env)).toMatch(/^invalid_request 422/)
    await expect(execute([...command, 'book.mjs'], project.path, env)).rejects.toThrow(/WebSocket is required/)
  })

  it.concurrent('the Worker of the README', async () => {
    const worker = await bundleOf(join(project.path, 'worker.mjs'))
    const response = await fetchOfWorker({ 'worker.mjs': worker }, { WEIR_URL: world.url, WEIR_KEY: exchange.key })
    expect([response.status, await response.json()]).toEqual([200, [expect.any(Array), expect.any(Array)]])
  })

  it.concurrent('the page of the README', { timeout: 120_000 }, async () => {
    const browser = await openBrowser()
    if (typeof browser === 'string') {
      console.error(`SKIPPED: the page of the README of the client package: ${browser}`)
      return
    }
    const page = await (await browser.newContext()).newPage()
    const server = await startServer((request, response) => {
      void pageAnswer(request.url ?? '/').then(([type, text]) => response.setHeader('content-type', type).end(text))
    })
    await page.goto(server.url)
    await page.locator('#book', { hasText: 'verified' }).waitFor({ timeout: 60_000 })
    await browser.close()
    server.close()
  })

  it.skipIf(PYTHON === undefined)('Python', { timeout: 300_000, concurrent: true }, async () => {
    const { url, key, cut } = await settingsOf()
    const args = [join(import.meta.dirname, 'package/contract.py'), url, key, cut, JSON.stringify(past)]
    const found = JSON.parse(await runPython(args))
    expect(Object.entries(found).filter(([, failure]) => failure !== null)).toEqual([])
    expect(Object.keys(found)).toHaveLength(12)
  })
})
