// The walls of the house: folders point one way, files stand in no circle, pure files import pure files, files stay
// small, names say something.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/**
 * What each folder of src may import beside itself. The rows stand in order: a
 * folder imports those above it. A room and its own folders import each other, because what stands at a room's root is
 * both the vocabulary of its folders and what puts them together; there the circles of files decide.
 */
const IMPORTS: Readonly<Record<string, string>> = {
  core: '',
  key: 'core',
  egress: 'core key',
  credit: 'core egress credit/plans credit/streams credit/webhooks',
  'credit/plans': 'core key credit',
  'credit/streams': 'core credit',
  'credit/webhooks': 'core egress credit',
  feed: 'core',
  history: 'core feed',
  book: 'core feed book/l4',
  'book/l4': 'core feed',
  'history/archive': 'core feed book',
  'history/files': 'core feed history history/archive',
  'history/replay': 'book feed history/archive',
  'history/exports': 'core credit feed history/archive history/files',
  'info/shapes': 'core feed history info',
  stream:
    'core key credit credit/plans credit/streams feed book book/l4 history/archive history/files stream/replay stream/events stream/sockets stream/books stream/states stream/l4 stream/channels stream/links stream/minutes stream/graphql stream/sources',
  'stream/events': 'core feed history stream',
  'stream/sockets': 'core key credit credit/plans stream',
  'stream/books': 'core credit book stream stream/events stream/sockets',
  'stream/states': 'core feed info/shapes stream stream/events stream/books',
  'stream/channels': 'core feed history book info/shapes stream stream/events stream/books stream/states',
  'stream/l4': 'core feed book/l4 stream stream/events stream/sockets',
  'stream/replay': 'core feed book history/archive history/replay stream stream/events stream/sockets',
  'stream/links': 'core feed book stream stream/events stream/sockets stream/books stream/l4',
  'stream/graphql': 'core key stream stream/sockets',
  'stream/minutes': 'core key credit credit/plans credit/streams stream stream/sockets',
  'stream/sources': 'core feed stream stream/sockets stream/events stream/books stream/states stream/l4 stream/minutes',
  upstream: 'core',
  edge: 'core key credit credit/plans stream/sockets',
  'edge/session': 'core key edge',
  rpc: 'core credit key upstream edge',
  pipeline: 'core stream history/files pipeline/evm pipeline/topics',
  'pipeline/evm': 'core rpc pipeline',
  'pipeline/topics': 'core feed history history/files history/replay stream stream/events pipeline pipeline/evm',
  'pipeline/sql': 'core history/files pipeline/topics',
  'pipeline/destinations': 'core egress credit/webhooks history/archive history/files pipeline pipeline/topics',
  'pipeline/sink':
    'core egress credit feed history/archive stream upstream rpc pipeline pipeline/evm pipeline/topics pipeline/sql pipeline/destinations',
  info: 'core key credit feed history history/replay book upstream edge info/answer info/sources info/queries',
  'info/answer': 'core key credit upstream edge info',
  'info/sources':
    'core feed history history/archive history/files history/replay book upstream info info/answer info/shapes',
  'info/queries': 'core feed history book info info/shapes info/sources',
  docs: 'key credit credit/webhooks feed stream edge info',
  checkout: 'core key credit checkout/stripe',
  'checkout/stripe': 'core credit edge checkout',
  platform:
    'core key egress credit credit/plans credit/webhooks feed book edge checkout history/archive history/exports upstream pipeline pipeline/evm platform/endpoints',
  'platform/endpoints':
    'core key credit credit/plans credit/webhooks feed checkout history/archive history/exports pipeline platform',
  signup: 'core key credit/webhooks edge edge/session checkout checkout/stripe platform',
  'docs/site': 'core edge feed info rpc stream stream/graphql platform docs',
  client: 'core feed book stream info',
  feeder: 'core feed',
  devnet: 'book core devnet/exchange devnet/agents devnet/evm devnet/info devnet/files',
  'devnet/exchange': 'feed',
  'devnet/agents': 'devnet/exchange',
  'devnet/evm': 'devnet/exchange',
  'devnet/info': 'core feed info info/shapes devnet/exchange',
  'devnet/files': 'book devnet devnet/exchange devnet/info',
  cli: 'core key credit feed book client feeder cli/backfill',
  'cli/backfill': 'core history/archive feeder cli',
  launch: 'core credit rpc pipeline/sql cli docs/site',
  'console/ui': 'core console',
  // It loads `owner` and `operator` when they are needed.
  console: 'console/ui',
  'console/owner': 'core console console/ui',
  'console/status': 'console console/ui feed',
  'console/operator': 'core console console/status console/ui',
  'console/docs': '',
  'console/live': 'core client console',
  doctor: 'core cli feeder launch',
}

/** A file is one idea. One over this many lines wants a reason why it is still one. */
const LONG = 500
const LONG_FILES: Readonly<Record<string, string>> = {
  'src/client/wire.ts': 'generated: the types of all requests, answers, bodies and frames',
}

/** Of `graphql-ws` the protocol: messages and close codes. */
const PURE_PACKAGES = ['zod', 'big.js', 'graphql', 'graphql-ws', 'viem/utils']

/** Bindings that are text and no variables: a surface whose secret is unset does not exist. */
const SECRETS = ['ADMIN_TOKEN', 'FEED_TOKEN', 'KEY_SECRET']

const sources = globSync('src/**/*.{ts,tsx}', { cwd: ROOT }).sort()
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const importsIn = (code: string) =>
  [...code.matchAll(/(?:^|\n)(?:import|export)[^'"\n]*(?:\n[^'"]*?)?from '([^']+)'/g)].map(([, from]) => from!)
const importsOf = (path: string) => importsIn(text(path))
const filesImportedBy = (path: string) =>
  importsOf(path)
    .filter((from) => from.startsWith('.'))
    .map((from) => normalize(join(dirname(path), from)))
const folderOf = (path: string) => dirname(path).slice('src/'.length)
const isPure = (path: string) =>
  !/\.((do|store|route|client|node|dom)\.ts|tsx)$/.test(path) && path.split('/').length > 2

/** Files that stand in a circle of imports, or between two. */
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

describe('folders', () => {
  const edges = sources
    .filter((path) => folderOf(path) !== '')
    .flatMap((path) => filesImportedBy(path).map((target) => ({ path, target })))
    .filter(({ path, target }) => folderOf(path) !== folderOf(target))
  const permitted = Object.entries(IMPORTS).flatMap(([folder, names]) =>
    names.split(' ').flatMap((name) => (name === '' ? [] : [`${folder} imports ${name}`])),
  )

  it('import what the table says', () => {
    // A pattern that finds no imports would prove anything.
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(2 * sources.length)
    expect([...new Set(sources.map(folderOf))].filter((folder) => folder !== '').sort()).toEqual(
      Object.keys(IMPORTS).sort(),
    )
    const named = edges.map(({ path, target }) => ({
      edge: `${folderOf(path)} imports ${folderOf(target)}`,
      path,
      target,
    }))
    expect(named.filter(({ edge }) => !permitted.includes(edge))).toEqual([])
  })

  it('point one way', () => {
    const order = Object.keys(IMPORTS)
    const isOwn = (folder: string, name: string) => name.startsWith(`${folder}/`) || folder.startsWith(`${name}/`)
    const wrong = Object.entries(IMPORTS).flatMap(([folder, names]) =>
      names
        .split(' ')
        .filter((name) => order.indexOf(name) >= order.indexOf(folder) && !isOwn(folder, name))
        .map((name) => `${folder} imports ${name}`),
    )
    expect(wrong).toEqual([])
  })

  it('have no room without a noun, no barrel, no default export', () => {
    expect(sources.filter((path) => /\/(utils?|helpers?|common|misc|types|index)\.ts$/.test(path))).toEqual([])
    const entries = ['src/gateway.ts', 'src/live.ts', 'src/sql.ts']
    expect(sources.filter((path) => !entries.includes(path) && /^export default/m.test(text(path)))).toEqual([])
  })
})

describe('files of src', () => {
  it('import each other in no circle, types included', () => {
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
  it('import pure files and packages that are pure alone', () => {
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
  it('are named, and their stubs typed, in one place', () => {
    const place = 'src/core/objects.client.ts'
    const reach =
      /\b(?:getByName|idFromName|idFromString|newUniqueId)\(|env\.GATEWAY\b|as unknown as \w*(?:Api|Book|Internal|Keeper|Stub)\b/
    expect(text(place)).toMatch(reach)
    expect(sources.filter((path) => path !== place && reach.test(text(path)))).toEqual([])
  })

  it('and the gateway read their variables where they are parsed', () => {
    const variables = [...text('bindings.d.ts').matchAll(/^ {4}([A-Z_]+): string$/gm)].map(([, name]) => name!)
    const raw = new RegExp(`\\benv\\.(?:${variables.filter((name) => !SECRETS.includes(name)).join('|')})\\b`)
    expect(variables).toContain('RELAY_SOCKETS')
    // What starts the Workers sets variables of theirs; the key ring is lent parsed ones.
    const parsed = ['src/accounts/key-ring.store.ts']
    const read = sources.filter((path) => folderOf(path) !== 'launch' && !parsed.includes(path) && raw.test(text(path)))
    expect(read).toEqual([])
  })
})

describe('files', () => {
  it('stay within 500 lines unless there is a reason', () => {
    const long = sources.filter((path) => text(path).split('\n').length > LONG)
    expect(long.filter((path) => !(path in LONG_FILES))).toEqual([])
    expect(Object.keys(LONG_FILES).filter((path) => !long.includes(path))).toEqual([])
  })

  it('are found in a folder of any name', () => {
    // The path of a URL is percent-encoded: a space in it names another folder.
    const code = globSync('{src,scripts,test,examples}/**/*.{ts,mjs}', { cwd: ROOT })
    expect(code.filter((path) => /import\.meta\.url\)\s*\.pathname/.test(text(path)))).toEqual([])
  })

  it('begin by saying what they are', () => {
    expect(sources.filter((path) => !text(path).startsWith('//'))).toEqual([])
  })
})
