// Compares the protocol pages with the tests: every numbered rule is cited by a test, and every citation names an
// existing rule. A citation is a comment above the test (`// WS-12`); ranges are written out.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const DOCUMENTS = {
  WS: 'docs/reference/websocket.md',
  FEED: 'docs/operators/reference/feed-protocol.md',
  PIPE: 'docs/reference/pipelines.md',
  GQL: 'docs/reference/graphql.md',
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const rulesOf = (path: string) =>
  [...read(path).matchAll(/^\*\*((?:WS|FEED|PIPE|GQL)-\d+)\.\*\* \S/gm)].map(([, rule]) => rule!)
const byNumber = (a: string, b: string) => Number(a.split('-')[1]) - Number(b.split('-')[1])

const cited = new Set(
  globSync('test/**/*.test.ts', { cwd: ROOT })
    .filter((path) => path !== 'test/http/docs/protocol-rules.test.ts')
    .flatMap((path) => read(path).match(/^\s*\/\/ (?:WS|FEED|PIPE|GQL)-\d+(?:, (?:WS|FEED|PIPE|GQL)-\d+)*$/gm) ?? [])
    .flatMap((comment) => comment.match(/(?:WS|FEED|PIPE|GQL)-\d+/g)!),
)

it.each(Object.entries(DOCUMENTS))('every %s rule has a unique number and a test', (name, path) => {
  const rules = rulesOf(path)
  expect(rules.length).toBeGreaterThan(10)
  expect(rules.filter((rule) => !rule.startsWith(`${name}-`))).toEqual([])
  expect(rules.filter((rule, at) => rules.indexOf(rule) !== at)).toEqual([])
  expect(rules.filter((rule) => !cited.has(rule)).sort(byNumber)).toEqual([])
})

it('no test or document refers to an unknown rule', () => {
  const rules = new Set(Object.values(DOCUMENTS).flatMap(rulesOf))
  const written = Object.values(DOCUMENTS).flatMap((path) => read(path).match(/\b(?:WS|FEED|PIPE|GQL)-\d+\b/g)!)
  expect([...cited, ...written].filter((rule) => !rules.has(rule))).toEqual([])
})
