// A Durable Object must be declared in seven places, which are compared here; CONTRIBUTING.md lists the steps. The object
// of the SQL Worker is bound only by its own Worker.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!).sort()

const classes = globSync('src/**/*.do.ts', { cwd: ROOT }).flatMap((path) =>
  all(read(path), /^export class (\w+) extends DurableObject\b/gm),
)

const OF_SQL = ['SqlRunner']
const OF_JOBS = ['Archiver', 'Compactor', 'OrderBook', 'PipelineFollower', 'Sink']
const OF_LIVE = classes.filter((name) => ![...OF_SQL, ...OF_JOBS].includes(name)).toSorted()

it.each([
  ['live', OF_LIVE],
  ['jobs', OF_JOBS],
  ['sql', OF_SQL],
])('the classes of the Worker %s are exported, bound and created in its own file only', (role, own) => {
  expect(own.length).toBeGreaterThan(0)
  const file = read(`wrangler.${role}.toml`)
  expect(all(read(`src/${role}.ts`), /^export \{ (\w+) \} from/gm)).toEqual(own)
  expect(all(file, /class_name = "(\w+)" \}/g)).toEqual(own)
  const created = all(file, /^new_sqlite_classes = \[([^\]]*)\]/gm)
  expect(created.flatMap((list) => all(list, /"(\w+)"/g)).sort()).toEqual(own)
})

it.each([
  ['wrangler.toml', 'live', OF_LIVE],
  ['wrangler.toml', 'jobs', OF_JOBS],
  ['wrangler.live.toml', 'jobs', OF_JOBS],
  ['wrangler.jobs.toml', 'live', OF_LIVE],
])('%s binds the classes of the Worker %s', (path, role, own) => {
  expect(all(read(path), new RegExp(`class_name = "(\\w+)", script_name = "weir-${role}" \\}`, 'g'))).toEqual(own)
})

it.each([
  ['schemas/storage.md', /^\*\*(\w+)\*\*, (?:one|many)/gm],
  ['docs/internals/architecture.md', /^\| (\w+) \| (?:one per|many per|`BOOK_HUBS`|`SQL_RUNNERS`)/gm],
])('every class is in %s', (path, pattern) => {
  expect(all(read(path), pattern)).toEqual(classes.toSorted())
})
