// A Durable Object must be declared in six places, which are compared here; CONTRIBUTING.md lists the steps. The object
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

const OF_SQL = 'SqlRunner'
const ofLive = classes.filter((name) => name !== OF_SQL)

it.each([
  ['src/live.ts', /^export \{ (\w+) \} from/gm],
  ['wrangler.live.toml', /class_name = "(\w+)" \}/g],
  ['wrangler.toml', /class_name = "(\w+)", script_name = "weir-live" \}/g],
])('every class of the live Worker is in %s', (path, pattern) => {
  expect(ofLive.length).toBeGreaterThan(4)
  expect(all(read(path), pattern)).toEqual(ofLive.toSorted())
})

it.each([
  ['src/sql.ts', /^export \{ (\w+) \} from/gm],
  ['wrangler.sql.toml', /class_name = "(\w+)" \}/g],
  ['wrangler.sql.toml', /^new_sqlite_classes = \["(\w+)"\]/gm],
])('the class of the SQL Worker is in %s', (path, pattern) => {
  expect(all(read(path), pattern)).toEqual([OF_SQL])
})

it.each([
  ['schemas/storage.md', /^\*\*(\w+)\*\*, (?:one|many)/gm],
  ['docs/internals/architecture.md', /^\| (\w+) \| (?:one per|many per|`BOOK_HUBS`|`SQL_RUNNERS`)/gm],
])('every class is in %s', (path, pattern) => {
  expect(all(read(path), pattern)).toEqual(classes.toSorted())
})

it('every class has one migration', () => {
  const added = all(read('wrangler.live.toml'), /^new_sqlite_classes = \[([^\]]*)\]/gm)
  expect(added.flatMap((list) => all(list, /"(\w+)"/g)).sort()).toEqual(ofLive.toSorted())
})
