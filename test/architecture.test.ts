// The walls of the house: folders point one way, pure files import pure files, files stay small, names say something.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = new URL('..', import.meta.url).pathname

/** What each folder of src may import beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  key: ['core'],
  credit: ['core', 'key'],
  feed: ['core'],
  history: ['core', 'feed'],
  book: ['core', 'feed'],
  stream: ['core', 'key', 'credit', 'book', 'feed', 'history'],
  upstream: ['core', 'key', 'credit', 'book', 'feed', 'history'],
  edge: ['core', 'key', 'credit', 'book', 'feed', 'stream', 'upstream'],
  info: ['core', 'key', 'credit', 'book', 'feed', 'stream', 'history', 'upstream', 'edge'],
  docs: ['core', 'key', 'credit', 'feed', 'stream', 'edge', 'info'],
  platform: ['core', 'key', 'credit', 'book', 'feed', 'stream', 'upstream', 'edge'],
  client: ['core', 'book', 'feed', 'stream'],
  feeder: ['core', 'book', 'feed'],
  devnet: ['core', 'book', 'feed'],
  launch: [
    'core',
    'key',
    'credit',
    'book',
    'feed',
    'stream',
    'edge',
    'info',
    'platform',
    'client',
    'feeder',
    'devnet',
    'cli',
  ],
  cli: [
    'core',
    'key',
    'credit',
    'book',
    'feed',
    'stream',
    'edge',
    'info',
    'platform',
    'client',
    'feeder',
    'devnet',
    'launch',
  ],
}

/** Files over 300 lines, each with its reason. */
const LONG_FILES: Readonly<Record<string, string>> = {
  'src/feed/block-log.do.ts': 'one object’s surface: the order of its steps is the point and is read in one place',
  'src/stream/subscriptions.ts': 'one state machine: every way into and out of a subscription must be read together',
}

const sources = globSync('src/**/*.ts', { cwd: ROOT }).sort()
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const importsOf = (path: string) =>
  [...text(path).matchAll(/(?:^|\n)(?:import|export)[^'"\n]*(?:\n[^'"]*?)?from '([^']+)'/g)].map(([, from]) => from!)
const folderOf = (path: string) => path.split('/')[1]!
const isPure = (path: string) => !/\.(do|store|route|client|node)\.ts$/.test(path) && path.split('/').length > 2

describe('folders', () => {
  it('point one way', () => {
    // A pattern that finds no imports would prove anything.
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(2 * sources.length)
    const wrong = sources
      .filter((path) => path.split('/').length > 2)
      .flatMap((path) => {
        const allowed = MAY_IMPORT[folderOf(path)]
        if (!allowed) return [`${path}: the folder is not in the table`]
        return importsOf(path)
          .filter((from) => from.startsWith('.'))
          .map((from) => normalize(join(dirname(path), from)))
          .filter((target) => folderOf(target) !== folderOf(path) && !allowed.includes(folderOf(target)))
          .map((target) => `${path} imports ${target}`)
      })
    expect(wrong).toEqual([])
  })

  it('have no room without a noun, no barrel, no default export', () => {
    expect(sources.filter((path) => /\/(utils?|helpers?|common|misc|types|index)\.ts$/.test(path))).toEqual([])
    const entries = ['src/gateway.ts', 'src/live.ts']
    expect(sources.filter((path) => !entries.includes(path) && /^export default/m.test(text(path)))).toEqual([])
  })
})

describe('pure files', () => {
  it('import pure files, zod and big.js alone', () => {
    const wrong = sources.filter(isPure).flatMap((path) =>
      importsOf(path)
        .filter((from) =>
          from.startsWith('.') ? !isPure(normalize(join(dirname(path), from))) : !['zod', 'big.js'].includes(from),
        )
        .map((from) => `${path} imports ${from}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('files', () => {
  it('stay within 300 lines unless there is a reason', () => {
    const long = sources.filter((path) => text(path).split('\n').length > 300)
    expect(long.filter((path) => !(path in LONG_FILES))).toEqual([])
    expect(Object.keys(LONG_FILES).filter((path) => !long.includes(path))).toEqual([])
  })

  it('begin by saying what they are', () => {
    expect(sources.filter((path) => !text(path).startsWith('//'))).toEqual([])
  })
})
