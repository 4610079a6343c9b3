// Runs one module in each runtime of users; its `run(settings)` returns the passed checks.

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { openBrowser } from '../../browser/browser.ts'
import { missingIn, placeOf } from '../../installed.ts'
import { startServer } from '../../kit/http-server.ts'
import type { Found, Settings } from './contract.ts'

/** What it answers, or a sentence that says why it is not there. */
type Runtime = (module: string, settings: Settings, folder: string) => Promise<Found | string>

const PLACE = placeOf('runtimes')
const LIST = join(import.meta.dirname, '../../runtimes')
/** As npm brings them, whose own links need scripts. */
const BINARIES = {
  deno: `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}/deno`,
  bun: `@oven/bun-${process.platform}-${process.arch}/bin/bun`,
}

function command(name: string, args: readonly string[], module: string, settings: Settings, folder: string) {
  writeFileSync(join(folder, 'contract.mjs'), module)
  const program = join(folder, 'program.mjs')
  const text = `import { run } from './contract.mjs'\nconsole.log(JSON.stringify(await run(${JSON.stringify(settings)})))\n`
  writeFileSync(program, text)
  return new Promise<Found>((resolve, reject) => {
    const child = spawn(name, [...args, program], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let errors = ''
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-4_000)))
    child.once('error', reject)
    child.once('close', (code) => {
      try {
        resolve(JSON.parse(out.trim().split('\n').at(-1)!) as Found)
      } catch {
        reject(new Error(`${name} ended with ${code}: ${out}${errors}`))
      }
    })
  })
}

function installed(name: keyof typeof BINARIES, args: readonly string[]): Runtime {
  return async (module, settings, folder) => {
    const missing = missingIn(PLACE, LIST)
    if (missing !== null) return missing
    return command(join(PLACE, 'node_modules', BINARIES[name]), args, module, settings, folder)
  }
}

const inWorkerd: Runtime = async (module, settings) => {
  const worker = `import { run } from './contract.mjs'
export default { fetch: async () => Response.json(await run(${JSON.stringify(settings)})) }`
  const flare = new Miniflare(
    convertV4MiniflareOptions({
      compatibilityDate: '2026-10-01',
      modules: [
        { type: 'ESModule', path: 'worker.mjs', contents: worker },
        { type: 'ESModule', path: 'contract.mjs', contents: module },
      ],
    }),
  )
  try {
    return (await (await flare.dispatchFetch('http://localhost/')).json()) as Found
  } finally {
    await flare.dispose()
  }
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
  Node: (module, settings, folder) => command(process.execPath, [], module, settings, folder),
  workerd: inWorkerd,
  Chromium: inChromium,
  Deno: installed('deno', ['run', '--allow-net', '--no-config']),
  Bun: installed('bun', ['run']),
}
