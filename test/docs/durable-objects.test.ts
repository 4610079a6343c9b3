// A Durable Object has to be named in six places; here they hold each other. CONTRIBUTING.md tells the steps.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!).sort()

const classes = globSync('src/**/*.do.ts', { cwd: ROOT }).flatMap((path) =>
  all(read(path), /^export class (\w+) extends DurableObject\b/gm),
)

it.each([
  ['src/live.ts', /^export \{ (\w+) \} from/gm],
  ['wrangler.live.toml', /class_name = "(\w+)" \}/g],
  ['wrangler.toml', /class_name = "(\w+)", script_name = "weir-live" \}/g],
  ['schemas/storage.md', /^\*\*(\w+)\*\*, (?:one|many)/gm],
  ['docs/architecture.md', /^\| (\w+) \| (?:one per|many per|`BOOK_HUBS`)/gm],
])('every class is in %s', (path, pattern) => {
  expect(classes.length).toBeGreaterThan(4)
  expect(all(read(path), pattern)).toEqual(classes.toSorted())
})

it('every class has come with one migration', () => {
  const added = all(read('wrangler.live.toml'), /^new_sqlite_classes = \[(.*)\]/gm)
  expect(added.flatMap((list) => all(list, /"(\w+)"/g)).sort()).toEqual(classes.toSorted())
})
