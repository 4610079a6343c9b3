// `node scripts/release-files.ts FOLDER` builds this checkout and writes the files of its release into FOLDER: packages,
// schemas, sources, release notes, SBOM and SHA256SUMS. Invariant: equal commits and tools give equal bytes.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildPython, findPython } from './build-python.ts'
import { releaseNotes } from './changelog.ts'
import { bomText, type LockedPackages, type PublishedFile } from './sbom.ts'

const ROOT = join(import.meta.dirname, '..')
/** In bundles, although no file of src/console imports it. */
const FONT = '@fontsource-variable/inter'
const IMPORT = /\b(?:from|import) '((?:@[\w-]+\/)?[\w-]+)[\w/.-]*'/g

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const json = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T
const run = (command: string, ...args: readonly string[]) =>
  execFileSync(command, args, { cwd: ROOT, maxBuffer: 1024 ** 3, stdio: ['ignore', 'pipe', 'inherit'] })
const root = json<Manifest>('package.json')
const { version, license } = root

const [out] = process.argv.slice(2)
if (out === undefined) {
  console.error('Name the folder for the files: node scripts/release-files.ts dist/release/1.2.3')
  process.exit(2)
}
writeFiles(resolve(out))

function writeFiles(folder: string): void {
  mkdirSync(folder, { recursive: true })
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty.`)
  const published = [...npmPackages(folder), ...pythonPackages(folder)]
  for (const name of ['openapi', 'asyncapi'])
    copyFileSync(join(ROOT, `schemas/${name}.json`), join(folder, `${name}.json`))
  archive(join(folder, `weir-${version}-source.tar.gz`))
  if (existsSync(join(ROOT, 'deploy'))) archive(join(folder, `weir-${version}-deploy.tar.gz`), 'deploy')
  writeFileSync(join(folder, 'NOTES.md'), releaseNotes(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version))
  const { packages: lock } = json<{ packages: LockedPackages }>('package-lock.json')
  const time = new Date(Number(run('git', 'log', '-1', '--format=%ct')) * 1_000).toISOString()
  const bom = bomText({ version, license, time, tools: tools(), files: published, lock })
  writeFileSync(join(folder, `weir-${version}.cdx.json`), bom)
  const names = readdirSync(folder).sort()
  writeFileSync(join(folder, 'SHA256SUMS'), names.map((name) => `${sha256(join(folder, name))}  ${name}\n`).join(''))
}

function npmPackages(folder: string): PublishedFile[] {
  for (const script of ['build-programs', 'build-client']) run(process.execPath, `scripts/${script}.ts`)
  const bundled = [...Object.keys(root.dependencies ?? {}), ...consolePackages(), FONT]
  return (['weir', 'feeder', 'client'] as const).map((part) => {
    const { name, dependencies, optionalDependencies } = json<Manifest>(`dist/packages/${part}/package.json`)
    const file = `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`
    copyFileSync(join(ROOT, 'dist/packages', file), join(folder, file))
    // The lock file has Node as a package for all platforms.
    const optional = Object.keys(optionalDependencies ?? {}).map((one) => (one.startsWith('node-') ? 'node' : one))
    const own = [...Object.keys(dependencies ?? {}), ...optional, ...(part === 'weir' ? bundled : [])]
    return {
      file,
      sha256: sha256(join(folder, file)),
      kind: part === 'client' ? 'library' : 'application',
      name,
      registry: 'npm',
      packages: [...new Set(own)].sort(),
      requirements: [],
    }
  })
}

/** Packages of this project that the pages import. */
function consolePackages(): string[] {
  const known = { ...root.dependencies, ...root.devDependencies }
  const text = globSync('src/console/**/*.{ts,tsx}', { cwd: ROOT }).map((path) =>
    readFileSync(join(ROOT, path), 'utf8'),
  )
  const names = text.flatMap((code) => [...code.matchAll(IMPORT)].map(([, name = '']) => name))
  return names.filter((name) => known[name] !== undefined)
}

function pythonPackages(folder: string): PublishedFile[] {
  const project = readFileSync(join(ROOT, 'packages/python/pyproject.toml'), 'utf8')
  const [, name = ''] = /^name = "(.*)"$/m.exec(project) ?? []
  const [, list = '[]'] = /^dependencies = (\[.*\])$/m.exec(project) ?? []
  return Object.values(buildPython(folder)).map((path) => ({
    file: basename(path),
    sha256: sha256(path),
    kind: 'library',
    name,
    registry: 'pypi',
    packages: [],
    requirements: JSON.parse(list) as string[],
  }))
}

/** Files of the commit. Compressed here, because versions of git compress differently. */
function archive(path: string, ...folders: readonly string[]): void {
  const prefix = `--prefix=weir-${version}/`
  writeFileSync(path, gzipSync(run('git', 'archive', '--format=tar', prefix, 'HEAD', ...folders), { level: 9 }))
}

function tools(): Record<string, string> {
  const python = findPython('hatchling') ?? 'python3'
  const printVersion = 'from importlib.metadata import version; print(version("hatchling"))'
  const printed = { npm: run('npm', '--version'), hatchling: run(python, '-c', printVersion) }
  const trimmed = Object.entries(printed).map(([name, text]) => [name, String(text).trim()])
  return { node: process.versions.node, ...Object.fromEntries(trimmed) }
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
