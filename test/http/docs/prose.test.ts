// Tests what can be checked in the written documents: links lead to existing pages, the map lists every folder of src,
// and the documented commands, limits, variables and dependencies are the real ones.

import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { LIMIT_FIELDS, type Limits } from '../../../src/accounts/limits.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { PLANS } from '../../../src/metering/plans/plan.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const pages = globSync(['*.md', 'docs/**/*.md', 'examples/*.md', 'packages/*/*.md', 'schemas/*.md'], {
  cwd: ROOT,
}).sort()
const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
const rowsOf = (page: string) => [...page.matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell!)

/** A heading as a forge's address has it. */
const anchorsOf = (page: string) =>
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

it.each(pages)('%s has valid links', (path) => {
  const links = [...read(path).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link]) => link!)
  const broken = links.filter((link) => {
    const [file, anchor] = link.split('#')
    const target = file ? normalize(join(dirname(path), file)) : path
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && !anchorsOf(read(target)).includes(anchor)
  })
  expect(broken).toEqual([])
})

it.each(pages)('%s names existing files', (path) => {
  const paths = [...read(path).matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|mjs|json|md|toml|sh|py))`/g)].map(
    ([, one]) => one!,
  )
  const places = (one: string) => [one, `src/${one}`, `${dirname(path)}/${one}`]
  const written = /^(?:\.weir|[\w.-]+\/\d{4})/
  expect(
    paths.filter((one) => !written.test(one) && !places(one).some((each) => existsSync(join(ROOT, each)))),
  ).toEqual([])
})

it('the README is one page that names every package', () => {
  const readme = read('README.md')
  expect(readme.split('\n').length).toBeLessThanOrEqual(150)
  const packages = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
  const told = rowsOf(readme.slice(readme.indexOf('## Dependencies'))).flatMap((cell) => cell.split(/[ ,:*]+/))
  expect(packages.filter((name) => !told.includes(name))).toEqual([])
})

it('every package states its Node version, as the pages do', () => {
  const manifests = globSync(
    ['package.json', 'examples/package.json', 'packages/*/package.json', 'test/*/package.json'],
    { cwd: ROOT },
  )
  const nodes = manifests.map((path) => [path, (JSON.parse(read(path)) as typeof manifest).engines?.node] as const)
  expect(nodes.filter(([, node]) => !/^>=\d+(\.\d+)?$/.test(node ?? ''))).toEqual([])
  const oldest = (path: string) => nodes.find(([each]) => each === path)![1]!.slice(2)
  const start = oldest('package.json')
  const examples = oldest('examples/package.json')
  expect(read('scripts/install.mjs')).toContain(`OLDEST_NODE = ${start}\n`)
  const client = oldest('packages/client/package.json')
  const [major] = manifest.devDependencies!.node!.split('.')
  for (const path of ['README.md', 'docs/operators/reference/commands.md']) {
    const page = read(path).replaceAll(/\s+/g, ' ')
    for (const node of [`Node ${start} or newer`, `Node ${major}`, `client package needs Node ${client}`, examples])
      expect([path, page]).toEqual([path, expect.stringContaining(node)])
  }
  expect(read('docs/reference/sdks.md')).toContain(`Node ${client} or newer`)
  for (const path of ['docs/reference/sdks.md', 'packages/client/README.md'])
    expect(read(path)).toContain(`weir-client-${manifest.version}.tgz`)
  expect(read('examples/README.md')).toContain(`Node ${examples} or newer`)
})

it('the map lists exactly the folders of src', () => {
  const map = read('docs/internals/architecture.md').split('## Map')[1]!.split('## Flows')[0]!
  const told = rowsOf(map).flatMap((cell) => /^`(src\/[\w-]+)`$/.exec(cell)?.[1] ?? [])
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(told.sort()).toEqual(folders.map(({ name }) => `src/${name}`).sort())
})

it('every npm command is documented', () => {
  const told = [...read('docs/operators/reference/commands.md').matchAll(/`npm (?:run )?([a-z:]+)/g)].map(
    ([, name]) => name,
  )
  const commands = Object.keys(manifest.scripts!).filter((name) => !name.startsWith('pre'))
  expect(commands.filter((name) => !told.includes(name))).toEqual([])
  expect(told.filter((name) => !commands.includes(name!))).toEqual([])
})

it('every command of weir is documented', () => {
  const page = read('docs/operators/reference/commands.md')
  const told = [...page.matchAll(/^\| `npx weir ([a-z]+)/gm)].map(([, name]) => name!)
  expect([...told, 'demo'].sort()).toEqual(Object.keys(COMMANDS).sort())
})

it('every plan limit is documented, with the values of the first plans', () => {
  const rows = read('docs/reference/rate-limits.md').split('\n')
  const cellsOf = (name: string) =>
    rows.filter((row) => row.startsWith(`| \`${name}\` | `)).map((row) => row.split(' | '))
  for (const [limit, field] of Object.entries(LIMIT_FIELDS)) {
    const numbers = Object.values(PLANS).map(({ limits }) => limits[limit as keyof Limits])
    const [told, meant] = cellsOf(field)
    const shown = numbers.map((number) => number?.toLocaleString('en') ?? 'no limit')
    expect(told?.slice(1).map((cell) => cell.replace(/ \|$/, ''))).toEqual(shown)
    expect(meant).toHaveLength(4)
  }
})

it('every variable of the Workers is documented', () => {
  const vars = ['wrangler.toml', 'wrangler.live.toml', 'wrangler.jobs.toml'].flatMap((file) => {
    const [, section = ''] = /^\[vars\]\n([\s\S]*?)\n\n\[/m.exec(read(file)) ?? []
    return [...section.matchAll(/^([A-Z_]+) =/gm)].map(([, name]) => name!)
  })
  expect(vars.length).toBeGreaterThan(8)
  const told = rowsOf(read('docs/operators/reference/settings.md')).flatMap(
    (cell) => cell.match(/[A-Z]+(?:_[A-Z]+)*/g) ?? [],
  )
  expect(vars.filter((name) => !told.includes(name))).toEqual([])
})

it('the index lists every page of decisions, and each section has a decision, a reason and a consequence', () => {
  const files = readdirSync(join(ROOT, 'docs/internals/decisions')).filter((name) => /^\d/.test(name))
  const index = read('docs/internals/decisions/README.md')
  expect([...index.matchAll(/\]\((\d\d-[^)]+)\)/g)].map(([, file]) => file)).toEqual(files.sort())
  for (const file of files)
    for (const section of read(`docs/internals/decisions/${file}`).split('\n## ').slice(1))
      expect([file, section]).toEqual([
        file,
        expect.stringMatching(/\*\*Decision\.\*\*[\s\S]+\*\*Why\.\*\*[\s\S]+\*\*Consequence\.\*\*/),
      ])
})

it('every close code is documented', () => {
  const source = globSync('src/relay/**/*.ts', { cwd: ROOT }).map(read).join('\n')
  const closes = [...source.matchAll(/(?:\bend\(|return \[)(\d{4}), /g)].map(([, code]) => code!)
  expect(new Set(closes).size).toBeGreaterThan(5)
  const told = rowsOf(read('docs/reference/errors.md').split('## WebSocket close codes')[1]!)
  expect(closes.filter((code) => !told.includes(code))).toEqual([])
})
