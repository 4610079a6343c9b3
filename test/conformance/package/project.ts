// A user's project: empty but for the packed client, and then with the programs of the package's README.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withPackageName } from '../../../src/client/package-name.node.ts'
import { PACKAGE, tarball } from './bundle.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** What programs of the README and their compiler need besides, copied as npm would install it. */
const OTHERS = ['ws', 'zod', '@types/node', '@types/ws', 'undici-types']

export interface Project {
  readonly path: string
  /** The installed package. */
  readonly client: string
  /** Names of all packages that npm installed. */
  readonly installed: readonly string[]
}

/** Installs the packed file without the registry, so that a dependency would fail. */
export function emptyProject(path: string): Project {
  mkdirSync(path)
  const npm = (...args: string[]) => {
    const { status, stderr } = spawnSync('npm', [...args, '--loglevel=error'], { cwd: path, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
  }
  npm('init', '-y')
  npm('install', '--offline', '--no-audit', '--no-fund', tarball())
  const modules = join(path, 'node_modules')
  const { packages } = JSON.parse(readFileSync(join(path, 'package-lock.json'), 'utf8')) as { packages: object }
  const installed = Object.keys(packages).flatMap((key) => key.split('node_modules/').slice(1))
  for (const name of OTHERS) cpSync(join(ROOT, 'node_modules', name), join(modules, name), { recursive: true })
  for (const [name, text] of readmePrograms()) writeFileSync(join(path, name), text)
  return { path, client: join(modules, withPackageName('@weir/client')), installed }
}

/** The code blocks of the README that begin with the name of their file. */
function readmePrograms(): Map<string, string> {
  const page = readFileSync(join(PACKAGE, 'README.md'), 'utf8')
  const blocks = [...page.matchAll(/^```\w+\n((?:\/\/|<!--) ([\w.-]+)[\s\S]*?)^```$/gm)]
  return new Map(blocks.map(([, text = '', name = '']) => [name, text]))
}

/** Copies a program of the tests, which imports the package by its documented name. */
export function copyProgram(project: Project, file: string): string {
  const copy = join(project.path, file)
  writeFileSync(copy, withPackageName(readFileSync(join(import.meta.dirname, file), 'utf8')))
  return copy
}

/** A program of the README with a `WebSocket` of the package ws, as the README says for Node 20. */
export function withWebSocket(project: Project, file: string): string {
  const page = readFileSync(join(PACKAGE, 'README.md'), 'utf8')
  const [, section = ''] = page.split('### Node 20\n')
  const [, importLine = '', clientLine = ''] = /^```js\n(import .+)\n\n(const client = .+)\n```$/m.exec(section) ?? []
  const text = readFileSync(join(project.path, file), 'utf8').replace(/^const client = .+$/m, clientLine)
  const changed = `node20-${file}`
  writeFileSync(join(project.path, changed), `${importLine}\n${text}`)
  return changed
}

/** Names of the files in the installed package. */
export const filesOf = ({ client }: Project): string[] => readdirSync(client).sort()
