// `npm run build:client` builds the client package in dist/packages/client: ES modules, the types that they export, and the
// manifest and README of packages/client. It also packs the file that `npm install` and `npm publish` take.

import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { withPackageName } from '../src/client/package-name.node.ts'
import { pack } from './npm-pack.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const SOURCE_DIR = join(ROOT, 'packages/client')
const OUT_DIR = join(ROOT, 'dist/packages/client')
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
for (const file of globSync('*.{js,ts,md}', { cwd: OUT_DIR })) {
  const path = join(OUT_DIR, file)
  writeFileSync(path, withPackageName(readFileSync(path, 'utf8')))
}
pack(OUT_DIR)

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

/** Writes the manifest with the fields that the root shares, so that version and license are written once. */
function manifest(): void {
  const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const own = JSON.parse(readFileSync(join(SOURCE_DIR, 'package.json'), 'utf8'))
  const { version, license, repository, homepage, bugs } = root
  const peerDependencies = { zod: `^${root.dependencies.zod}` }
  const published = { ...own, version, license, repository, homepage, bugs, peerDependencies }
  writeFileSync(join(OUT_DIR, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  copyFileSync(join(SOURCE_DIR, 'README.md'), join(OUT_DIR, 'README.md'))
  copyFileSync(join(ROOT, 'LICENSE'), join(OUT_DIR, 'LICENSE'))
}
