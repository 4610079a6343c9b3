// `npm run build:client` builds the client package in dist/client, ready to publish: ES modules, the types that they export,
// and a separate package.json.

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const OUT_DIR = join(ROOT, 'dist/client')
const TYPES_DIR = join(ROOT, 'dist/client.types')
/** Imports of the project's own modules in type declarations. */
const FROM = /from ['"](\.[^'"]+)\.ts['"]/g
/** Entry points of the package and their files in src/client. */
const ENTRIES = { index: 'create-client.client', books: 'books.client', schemas: 'schemas' } as const

await build({
  root: ROOT,
  configFile: false,
  logLevel: 'warn',
  build: {
    outDir: OUT_DIR,
    emptyOutDir: true,
    minify: false,
    sourcemap: false,
    target: 'es2022',
    copyPublicDir: false,
    lib: {
      entry: Object.fromEntries(
        Object.entries(ENTRIES).map(([name, file]) => [name, join(ROOT, `src/client/${file}.ts`)]),
      ),
      formats: ['es'],
      fileName: (_, name) => `${name}.js`,
    },
    rollupOptions: { external: ['zod'], output: { chunkFileNames: '[name].js' } },
  },
})
declarations()
manifest()

/** Writes only the declarations that an entry point exports; internal ones stay unpublished. */
function declarations(): void {
  rmSync(TYPES_DIR, { recursive: true, force: true })
  const tsc = spawnSync('tsc', ['-p', join(ROOT, 'tsconfig.client.json')], { encoding: 'utf8', shell: false })
  if (tsc.status !== 0) throw new Error(tsc.stdout || String(tsc.error))
  const seen = new Set<string>()
  const copy = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    const text = readFileSync(path, 'utf8')
    for (const [, from] of text.matchAll(FROM)) copy(join(dirname(path), `${from}.d.ts`))
    if (dirname(path) !== join(TYPES_DIR, 'client')) throw new Error(`the client package shows ${path}`)
    writeFileSync(join(OUT_DIR, basename(path)), text.replaceAll(FROM, "from '$1.js'"))
  }
  for (const [name, file] of Object.entries(ENTRIES)) {
    copy(join(TYPES_DIR, `client/${file}.d.ts`))
    if (file !== name) writeFileSync(join(OUT_DIR, `${name}.d.ts`), `export * from './${file}.js'\n`)
  }
  rmSync(TYPES_DIR, { recursive: true })
}

function manifest(): void {
  const { version, license, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const exported = Object.keys(ENTRIES).map((name) => [
    name === 'index' ? '.' : `./${name}`,
    { types: `./${name}.d.ts`, default: `./${name}.js` },
  ])
  const own = {
    name: 'weir-client',
    version,
    description: 'Client for a Weir gateway: typed queries, streams, self-checking order books, history and replay',
    license,
    type: 'module',
    engines: { node: '>=22' },
    sideEffects: false,
    exports: Object.fromEntries(exported),
    peerDependencies: { zod: `^${dependencies.zod}` },
    peerDependenciesMeta: { zod: { optional: true } },
  }
  mkdirSync(OUT_DIR, { recursive: true })
  writeFileSync(join(OUT_DIR, 'package.json'), `${JSON.stringify(own, null, 2)}\n`)
  copyFileSync(join(ROOT, 'docs/reference/sdks.md'), join(OUT_DIR, 'README.md'))
  copyFileSync(join(ROOT, 'LICENSE'), join(OUT_DIR, 'LICENSE'))
}
