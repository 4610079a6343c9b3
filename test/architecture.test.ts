// Structural rules: folders depend in one direction, files form no cycles, pure files import only pure files, files
// stay small, and names are nouns.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** Folders of src in order: each may import only those before it. */
const ROOMS = [
  'core',
  'protocol',
  'accounts',
  'metering',
  'monitor',
  'block-log',
  'order-books',
  'archive',
  'upstream',
  'rpc',
  'relay',
  'info',
  'pipelines',
  'billing',
  'client',
  'console',
  'http',
  'feeder',
  'devnet',
  'cli',
]

/** A file covers one idea. A longer file needs a reason. */
const LONG = 500
const LONG_FILES: Readonly<Record<string, string>> = {
  'src/client/connection.ts':
    'the life of a connection: every message and every timer changes the same session and entries',
  'src/pipelines/sink/delivery.ts': 'the life of a batch and of what is owed for it: one state, stored in one write',
}

/** The protocol part of `graphql-ws`: messages and close codes. */
const PURE_PACKAGES = ['zod', 'big.js', 'graphql', 'graphql-ws', 'minisearch', 'viem/siwe', 'viem/utils']

/** Text bindings that are not variables: a surface whose secret is unset is disabled. */
const SECRETS = ['ADMIN_TOKEN', 'FEED_TOKEN', 'KEY_SECRET']

const sources = globSync('src/**/*.{ts,tsx}', { cwd: ROOT }).sort()
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** Examples in docstrings import too, but the file does not. */
const DOCSTRINGS = /^\/\*\*[\s\S]*?\*\//gm
const IMPORTS = /(?:^|\n)(?:import|export)[^'"\n]*(?:\n[^'"]*?)?from '([^']+)'/g
const importsIn = (code: string) => [...code.replace(DOCSTRINGS, '').matchAll(IMPORTS)].map(([, from]) => from!)
const importsOf = (path: string) => importsIn(text(path))
const filesImportedBy = (path: string) =>
  importsOf(path)
    .filter((from) => from.startsWith('.'))
    .map((from) => normalize(join(dirname(path), from)))
const folderOf = (path: string) => dirname(path).slice('src/'.length)
const isPure = (path: string) =>
  !/\.((do|store|route|client|node|dom)\.ts|tsx)$/.test(path) && path.split('/').length > 2

/** Files in an import cycle, or between two. */
function circled(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Set(imports.keys())
  for (let before = 0; before !== left.size; ) {
    before = left.size
    const imported = new Set([...left].flatMap((path) => imports.get(path)!))
    for (const path of left) {
      if (!imported.has(path) || !imports.get(path)!.some((target) => left.has(target))) left.delete(path)
    }
  }
  return [...left]
}

/** Units within a folder: a file counts as itself, a subfolder as a whole. */
function unitsBelow(folder: string): Map<string, string[]> {
  const unitOf = (path: string) => {
    const [first, ...rest] = path.slice(folder.length + 1).split('/')
    return rest.length === 0 ? path : join(folder, first!)
  }
  const units = new Map<string, string[]>()
  for (const path of sources.filter((one) => one.startsWith(`${folder}/`))) {
    const unit = unitOf(path)
    const others = filesImportedBy(path).filter((target) => target.startsWith(`${folder}/`))
    const imported = others.map(unitOf).filter((other) => other !== unit)
    units.set(unit, [...(units.get(unit) ?? []), ...imported])
  }
  return units
}

describe('folders', () => {
  const roomOf = (path: string) => path.split('/')[1]!

  it('import only earlier folders', () => {
    // A pattern that finds no imports would prove nothing.
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(2 * sources.length)
    const inRooms = sources.filter((path) => folderOf(path) !== '')
    expect([...new Set(inRooms.map(roomOf))].sort()).toEqual([...ROOMS].sort())
    const wrong = inRooms.flatMap((path) =>
      filesImportedBy(path)
        .filter((target) => target.startsWith('src/'))
        .filter((target) => ROOMS.indexOf(roomOf(target)) > ROOMS.indexOf(roomOf(path)) || folderOf(target) === '')
        .map((target) => `${path} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })

  it('form no cycle within a folder: a file beside subfolders either serves them or combines them, never both', () => {
    const folders = [...new Set(sources.flatMap((path) => [dirname(path), dirname(dirname(path))]))]
    const circles = folders
      .filter((folder) => folder.startsWith('src/'))
      .map((folder) => circled(unitsBelow(folder)))
      .filter((circle) => circle.length > 0)
    expect(circles).toEqual([])
  })

  it('have a noun as name, no barrel file and no default export', () => {
    expect(sources.filter((path) => /\/(utils?|helpers?|common|misc|types|index)\.ts$/.test(path))).toEqual([])
    const entries = ['src/gateway.ts', 'src/live.ts', 'src/jobs.ts', 'src/sql.ts']
    expect(sources.filter((path) => !entries.includes(path) && /^export default/m.test(text(path)))).toEqual([])
  })
})

describe('files of src', () => {
  it('form no import cycle, types included', () => {
    const files = (entries: Readonly<Record<string, string>>) =>
      new Map(Object.entries(entries).map(([path, code]) => [path, importsIn(code)]))
    const three = { a: "import type {\n  B,\n} from 'b'", b: "import { c } from 'c'", c: "export { a } from 'a'" }
    const around = { ...three, above: "import { a } from 'a'", below: '' }
    expect(circled(files({ ...around, c: "import { a } from 'a'\nimport { below } from 'below'" }))).toEqual([
      'a',
      'b',
      'c',
    ])
    expect(circled(files({ ...around, c: "import { below } from 'below'" }))).toEqual([])
    expect(circled(new Map(sources.map((path) => [path, filesImportedBy(path)])))).toEqual([])
  })
})

describe('pure files', () => {
  it('import only pure files and pure packages', () => {
    const wrong = sources.filter(isPure).flatMap((path) =>
      importsOf(path)
        .filter((from) =>
          from.startsWith('.') ? !isPure(normalize(join(dirname(path), from))) : !PURE_PACKAGES.includes(from),
        )
        .map((from) => `${path} imports ${from}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('objects', () => {
  it('are named, and their stubs typed, in one file', () => {
    const place = 'src/core/objects.client.ts'
    const reach =
      /\b(?:getByName|idFromName|idFromString|newUniqueId)\(|env\.GATEWAY\b|as unknown as \w*(?:Api|Book|Internal|Keeper|Stub)\b/
    expect(text(place)).toMatch(reach)
    expect(sources.filter((path) => path !== place && reach.test(text(path)))).toEqual([])
  })

  it('and gateway variables are read only where they are parsed', () => {
    const variables = [...text('bindings.d.ts').matchAll(/^ {4}([A-Z_]+): string$/gm)].map(([, name]) => name!)
    const raw = new RegExp(`\\benv\\.(?:${variables.filter((name) => !SECRETS.includes(name)).join('|')})\\b`)
    expect(variables).toContain('RELAY_SOCKETS')
    // The launcher sets Worker variables itself; the key resolver receives parsed ones.
    const parsed = ['src/accounts/key-resolver.store.ts']
    const read = sources.filter(
      (path) => folderOf(path) !== 'cli/launch' && !parsed.includes(path) && raw.test(text(path)),
    )
    expect(read).toEqual([])
  })
})

describe('files', () => {
  it('have at most 500 lines without a reason', () => {
    const long = sources.filter((path) => text(path).split('\n').length > LONG)
    expect(long.filter((path) => !(path in LONG_FILES))).toEqual([])
    expect(Object.keys(LONG_FILES).filter((path) => !long.includes(path))).toEqual([])
  })

  it('are found in a folder of any name', () => {
    // A URL path is percent-encoded, so a space in it would name another folder.
    const code = globSync('{src,scripts,test,examples}/**/*.{ts,mjs}', { cwd: ROOT })
    expect(code.filter((path) => /import\.meta\.url\)\s*\.pathname/.test(text(path)))).toEqual([])
  })

  it('start with a header comment', () => {
    expect(sources.filter((path) => !text(path).startsWith('//'))).toEqual([])
  })
})
