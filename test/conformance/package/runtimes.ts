// The runtimes of users. Each runs one module, whose `run(settings)` returns the passed checks.

import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { openBrowser } from '../../browser/browser.ts'
import { missingIn, placeOf } from '../../installed.ts'
import { startServer } from '../../kit/http-server.ts'
import type { Found, Settings } from './contract.ts'

/** What it answers, or a sentence that says why it is not there. */
type Runtime = (module: string, settings: Settings, folder: string) => Promise<Found | string>

const PLACE = placeOf('runtimes')
const LIST = join(import.meta.dirname, '../../runtimes')
const ROOT = join(import.meta.dirname, '../../..')
const SYSTEM = `${process.platform}-${process.arch}`
/** As npm brings them, whose own links need scripts. */
const BINARIES = {
  node20: `node-20-${SYSTEM}/bin/node`,
  node22: `node-22-${SYSTEM}/bin/node`,
  deno: `@deno/${SYSTEM}${process.platform === 'linux' ? '-glibc' : ''}/deno`,
  bun: `@oven/bun-${SYSTEM}/bin/bun`,
}

/** The start of a command line that takes a program, or a sentence that says why it is not there. */
type Command = () => readonly string[] | string

function installed(name: keyof typeof BINARIES, ...args: readonly string[]): Command {
  return () => {
    const missing = missingIn(PLACE, LIST)
    if (missing !== null) return missing
    const path = join(PLACE, 'node_modules', BINARIES[name])
    return existsSync(path) ? [path, ...args] : `npm has none for ${SYSTEM}`
  }
}

/** It has no global WebSocket. */
export const NODE_20 = 'Node 20'

/** Runtimes that take a program on their command line. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  'Node 24': () => [process.execPath],
  'Node 22': installed('node22'),
  [NODE_20]: installed('node20'),
  Deno: installed('deno', 'run', '--allow-net', '--allow-env'),
  Bun: installed('bun', 'run'),
}

/** Less than the time limits of the tests, so that no program outlives them. */
const PROGRAM_MS = 280_000

/** What the program says. Rejects if it fails. */
export function execute(
  [path = '', ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: PROGRAM_MS,
    })
    let out = ''
    let errors = ''
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-4_000)))
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${path} ended with ${code}: ${out}${errors}`)),
    )
  })
}

function contractOf(name: string): Runtime {
  return async (module, settings, folder) => {
    const command = COMMANDS[name]!()
    if (typeof command === 'string') return command
    writeFileSync(join(folder, 'contract.mjs'), module)
    const ws = pathToFileURL(join(ROOT, 'node_modules/ws/wrapper.mjs'))
    const needs = name === NODE_20 ? `import { WebSocket } from '${ws}'\nglobalThis.WebSocket = WebSocket\n` : ''
    const text = `import { run } from './contract.mjs'\n${needs}console.log(JSON.stringify(await run(${JSON.stringify(settings)})))\n`
    writeFileSync(join(folder, 'program.mjs'), text)
    const out = await execute([...command, 'program.mjs'], folder)
    return JSON.parse(out.trim().split('\n').at(-1)!) as Found
  }
}

/** Runs a Worker until the response of its first request. */
export async function fetchOfWorker(
  modules: Readonly<Record<string, string>>,
  bindings: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const flare = new Miniflare(
    convertV4MiniflareOptions({
      compatibilityDate: '2026-10-01',
      modules: Object.entries(modules).map(([path, contents]) => ({ type: 'ESModule', path, contents })),
      bindings,
    }),
  )
  try {
    const response = await flare.dispatchFetch('http://localhost/')
    return new Response(await response.text(), { status: response.status })
  } finally {
    await flare.dispose()
  }
}

const inWorkerd: Runtime = async (module, settings) => {
  const worker = `import { run } from './contract.mjs'
export default { fetch: async () => Response.json(await run(${JSON.stringify(settings)})) }`
  return (await (await fetchOfWorker({ 'worker.mjs': worker, 'contract.mjs': module })).json()) as Found
}

const inChromium: Runtime = async (module, settings) => {
  const browser = await openBrowser()
  if (typeof browser === 'string') return browser
  const server = await startServer(({ url }, response) => {
    const isModule = url === '/contract.mjs'
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html')
    response.end(isModule ? module : '<!doctype html><title>contract</title>')
  })
  try {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${server.url}/`)
    return await page.evaluate<Found>(`import('/contract.mjs').then(({ run }) => run(${JSON.stringify(settings)}))`)
  } finally {
    await browser.close()
    server.close()
  }
}

export const RUNTIMES: Readonly<Record<string, Runtime>> = {
  ...Object.fromEntries(Object.keys(COMMANDS).map((name) => [name, contractOf(name)])),
  workerd: inWorkerd,
  Chromium: inChromium,
}
