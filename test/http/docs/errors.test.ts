// The page of errors and the code hold each other: every code of every surface is on the page, and no other.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CloseCode } from 'graphql-ws'
import { expect, it } from 'vitest'
import { closeCodesTable } from '../../../scripts/document-tables.ts'
import { withPart } from '../../../scripts/marked.ts'
import { FAILURES } from '../../../src/core/failure.ts'
import { infoStatus } from '../../../src/protocol/failure-wire.ts'

const ROOT = join(import.meta.dirname, '../../..')
const page = readFileSync(join(ROOT, 'docs/reference/errors.md'), 'utf8')
const kinds = Object.keys(FAILURES) as (keyof typeof FAILURES)[]
const shared = new Set<string>(kinds.map((kind) => FAILURES[kind].code))

const sourceOf = (pattern: string) =>
  globSync(pattern, { cwd: ROOT })
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n')

/** The rows of the tables under a heading, without heads and rules: cells without their code marks. */
function rowsUnder(heading: string): string[][] {
  const [, text = ''] = page.split(`\n## ${heading}\n`)
  const lines = text.split('\n## ')[0]!.split('\n')
  return lines
    .filter((line, at) => /^\| (?!-)/.test(line) && !/^\|[-|]+\|$/.test(lines[at + 1] ?? '') && !/^\|-/.test(line))
    .map((line) => line.slice(2, -2).split(' | '))
}
const unmarked = (cell: string) => cell.replaceAll('`', '').replace('−', '-')
const firstCells = (heading: string) => rowsUnder(heading).map(([cell]) => unmarked(cell!))
const distinct = (values: Iterable<string>) => [...new Set(values)].sort()

it('has every shared code once, with the statuses and numbers that the surfaces send', () => {
  const rows = rowsUnder('Codes').map((row) => row.slice(0, 4).map(unmarked).join(' '))
  const expected = kinds.map((kind) => {
    const { code, http, rpc } = FAILURES[kind]
    return `${code} ${infoStatus(kind)} ${http} ${rpc}`
  })
  expect(rows.length).toBe(new Set(rows).size)
  expect(rows.sort()).toEqual(distinct(expected))
})

it('has every code of frames on a socket', () => {
  const source = sourceOf('src/{relay,protocol/relay}/**/*.ts')
  const errors = [...source.matchAll(/errorFrame\((?:[^()]|\([^()]*\))*?'([a-z_]+)'\)/g)].map(([, code]) => code!)
  const [, remarks = ''] = /function notificationFrame\(\s*text: string,\s*code\?: ([^)]*)\)/.exec(source) ?? []
  const notes = [...remarks.matchAll(/'([a-z_]+)'/g)].map(([, code]) => code!)
  expect([errors.length, notes.length].map((count) => count > 2)).toEqual([true, true])
  const own = [...errors, ...notes].filter((code) => !shared.has(code))
  expect(firstCells('WebSocket error frames').sort()).toEqual(distinct(own))
})

it('has the same close codes as the code', () => {
  expect(withPart(page, 'close codes', closeCodesTable())).toBe(page)
})

it('has every code of GraphQL', () => {
  const source = sourceOf('src/relay/graphql/**/*.ts')
  const codes = [...source.matchAll(/code: '([A-Z_]+)'/g)]
    .map(([, code]) => code!)
    .filter((code) => !shared.has(code.toLowerCase()))
  const closes = [
    ...[...source.matchAll(/CloseCode\.(\w+)/g)].map(([, name]) => String(CloseCode[name as keyof typeof CloseCode])),
    ...[...source.matchAll(/\[(\d{4}), '/g)].map(([, code]) => code!),
  ]
  expect(firstCells('GraphQL').sort()).toEqual(distinct([...codes, ...closes]))
})

it('has every number of JSON-RPC', () => {
  const source = sourceOf('src/rpc/**/*.ts')
  const own = [...source.matchAll(/code: (-?\d+)/g)].map(([, code]) => code!)
  const numbers = [...own, ...kinds.map((kind) => String(FAILURES[kind].rpc)), '3']
  expect(firstCells('JSON-RPC').sort()).toEqual(distinct(numbers))
})

it('has every code of the client package', () => {
  const [, union = ''] = /export type FailureCode =([\s\S]*?)\n\n/.exec(sourceOf('src/client/api.ts')) ?? []
  const codes = [...union.matchAll(/'([a-z_]+)'/g)].map(([, code]) => code!)
  expect(codes.length).toBeGreaterThan(5)
  const known = new Set([...shared, ...firstCells('WebSocket error frames')])
  const own = [...codes, 'finished'].filter((code) => !known.has(code))
  expect(firstCells('Client packages').sort()).toEqual(distinct(own))
})
