// Builds pages and documentation into dist/console, and the Workers with wrangler into dist/gateway, dist/live, dist/jobs and
// dist/sql.
// Skipped if no source has changed.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InlineConfig } from 'vite'
import { DOCUMENTS } from '../../http/docs/site/prose-pages.ts'

const BUILDS = [
  { config: 'wrangler.toml', outdir: 'dist/gateway', main: 'gateway.js' },
  { config: 'wrangler.live.toml', outdir: 'dist/live', main: 'live.js' },
  { config: 'wrangler.jobs.toml', outdir: 'dist/jobs', main: 'jobs.js' },
  { config: 'wrangler.sql.toml', outdir: 'dist/sql', main: 'sql.js' },
] as const

/** Pages by the name in their URL. */
const PAGES = ['index', 'console', 'live', 'status', 'not-found', 'alert-link']

/** Bundled as text. */
const SCHEMA = 'schemas/graphql/schema.graphql'

/** wrangler without notices, metrics and network access. */
const QUIET_WRANGLER = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_LOG: 'error',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_API_TOKEN: '',
} as const

/** Updates `dist` below `root`, and returns whether anything was built. An error contains the output of wrangler. */
export async function build(root: string): Promise<boolean> {
  const stamp = join(root, 'dist/.stamp')
  const hash = sourceHash(root)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return false
  rmSync(stamp, { force: true })
  // wrangler needs the folder of the pages.
  await buildPages(root)
  await Promise.all(BUILDS.map(({ config, outdir }) => bundle(root, config, outdir)))
  for (const { outdir, main } of BUILDS)
    if (!existsSync(join(root, outdir, main))) throw new Error(`wrangler did not write ${outdir}/${main}`)
  writeFileSync(stamp, hash)
  return true
}

/** Writes the static assets of the gateway, which wrangler uploads on deploy. */
async function buildPages(root: string): Promise<void> {
  const folder = join(root, 'dist/console')
  // If `dist` cannot be written, wrangler would report a missing file instead.
  mkdirSync(join(root, 'dist'), { recursive: true })
  // Imported lazily, because a start without a build does not need them.
  const { build } = await import('vite')
  await writeFont(root)
  await build(consoleBuild(join(root, 'src/console'), folder))
  await build(siteScriptBuild(join(root, 'src/console'), folder))
  const { writeDocs } = await import('../../http/docs/site/write-docs.node.ts')
  await writeDocs(root, folder)
}

/** Writes the font of the pages with the weights and letters that it uses, which is 60 % of its size. */
async function writeFont(root: string): Promise<void> {
  const { default: subset } = await import('subset-font')
  const codes = [...range(0x20, 0x7e), ...range(0xa0, 0xff), ...range(0x2010, 0x2026), ...range(0x2190, 0x2193), 0x2212]
  const options = { targetFormat: 'woff2', variationAxes: { wght: { min: 400, max: 700 } } } as const
  const whole = readFileSync(join(root, 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'))
  writeFileSync(join(root, 'dist/inter.woff2'), await subset(whole, String.fromCodePoint(...codes), options))
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Builds src/console into files with hashed names. Invariant: nothing is inline, because the CSP would block it. */
function consoleBuild(folder: string, outDir: string): InlineConfig {
  return {
    root: folder,
    configFile: false,
    logLevel: 'error',
    // Always a production build, because development builds of some packages are a quarter larger.
    resolve: { conditions: ['module', 'browser', 'production'] },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    build: {
      outDir,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: PAGES.map((page) => join(folder, `${page}.html`)) },
    },
  }
}

/** Builds the script that each page loads before its first paint. A script of type module would run after it. */
function siteScriptBuild(folder: string, outDir: string): InlineConfig {
  return {
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      outDir,
      emptyOutDir: false,
      lib: { entry: join(folder, 'site.dom.ts'), formats: ['iife'], name: 'site', fileName: () => 'site.js' },
    },
  }
}

function sourceHash(root: string): string {
  const hash = createHash('sha256')
  const pages = ['src/console/**/*.{html,css,svg}', 'src/console/public/*', ...DOCUMENTS]
  const isLeftOut = (path: string) => path.endsWith('.node.ts') && !path.startsWith('src/http/docs/site/')
  const sources = globSync(['src/**/*.{ts,tsx}', ...pages], { cwd: root }).filter((path) => !isLeftOut(path))
  for (const path of [...new Set(sources.sort()), ...BUILDS.map(({ config }) => config), 'package-lock.json', SCHEMA]) {
    hash.update(`${path}\0`)
    hash.update(readFileSync(join(root, path)))
  }
  return hash.digest('hex')
}

/** Bundles the Worker of `config` into `outdir`; `main` replaces its entry point. */
export function bundle(root: string, config: string, outdir: string, main?: string): Promise<void> {
  const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js')
  const args = [wrangler, 'deploy', ...(main ? [main] : []), '--dry-run', '-c', config, '--outdir', outdir]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...QUIET_WRANGLER },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${config} failed to build:\n${output}`))))
  })
}
