import {
  closeSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freshStart } from '../../../src/cli/launch/messages.ts'
import { checkDatabases } from '../../../src/cli/launch/state-folder.node.ts'

const LOG = 'v3/do/weir-live-BlockLog/8b22.sqlite'
const METER = 'v3/do/weir-live-CreditMeter/f3ba.sqlite'
const PAGE = 4096

let folder = ''
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'weir-databases-')), 'my weir é')
  for (const name of [LOG, METER, 'v3/d1/miniflare-D1DatabaseObject/9efd.sqlite']) fill(join(folder, name))
})
afterEach(() => rmSync(dirname(folder), { recursive: true }))

/** Some pages with a row each. */
function fill(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = wal; CREATE TABLE segments (body TEXT)')
  for (let i = 0; i < 20; i++) database.prepare('INSERT INTO segments VALUES (?)').run('x'.repeat(PAGE))
  database.close()
}

function said(hasKeys = true): string {
  try {
    checkDatabases(folder, freshStart('npx weir demo --reset'), hasKeys)
    return 'ok'
  } catch (error) {
    return (error as Error).message.replace(folder, '')
  }
}

test('intact databases pass, even with a write-ahead log of a killed process', () => {
  const open = new DatabaseSync(join(folder, LOG))
  open.exec("INSERT INTO segments VALUES ('late')")
  expect(said()).toBe('ok')
  open.close()
})

test.each([
  ['without its beginning', (path: string) => write(path, 0), 'file is not a database'],
  ['cut off', (path: string) => truncateSync(path, 3 * PAGE), 'database disk image is malformed'],
  ['cut off within its first page', (path: string) => truncateSync(path, 100), 'database disk image is malformed'],
  ['with garbage inside', (path: string) => write(path, 5 * PAGE), /Tree \d+ page \d+/],
])('a database %s is named, with what to do', (_, damage, why) => {
  damage(join(folder, LOG))
  const words = said()
  expect(words).toContain(`The database /${LOG} is damaged (`)
  expect(words).toMatch(why)
  expect(words).toMatch(/ Delete it, .*rebuilt\.$/)
})

test.each([METER, 'v3/d1/miniflare-D1DatabaseObject/9efd.sqlite'])('%s cannot be rebuilt', (name) => {
  write(join(folder, name), 0)
  expect(said()).toMatch(/ Restore a copy of it, or start fresh with "npx weir demo --reset"/)
})

test('an empty file is a new database, except for the accounts database once it has tables', () => {
  const accounts = join(folder, 'v3/d1/miniflare-D1DatabaseObject/9efd.sqlite')
  for (const path of [accounts, join(folder, LOG)]) truncateSync(path, 0)
  expect(said()).toBe('ok')
  writeFileSync(join(folder, 'migrated'), '')
  expect(said()).toMatch(/9efd\.sqlite is damaged \(it is empty\)/)
})

test.each([
  ['v3/d1', 'accounts and keys'],
  ['v3/do/weir-live-CreditMeter', 'credits'],
])('a missing %s is named if keys were created', (part, what) => {
  const only = join(folder, part)
  for (const name of globSync('**/*.sqlite', { cwd: only })) rmSync(join(only, name))
  fill(join(only, 'metadata.sqlite'))
  expect(said()).toContain(`${what} are missing from /${part}. `)
  expect(said(false)).toBe('ok')
})

test('a new folder lacks no database, but a migrated one can', () => {
  rmSync(folder, { recursive: true })
  expect(said(false)).toBe('ok')
  mkdirSync(folder)
  writeFileSync(join(folder, 'migrated'), '0001.sql')
  expect(said(false)).toMatch(/databases of accounts and keys/)
})

/** Garbage over a page. */
function write(path: string, at: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(PAGE).fill(0xa5), 0, PAGE, at)
  closeSync(file)
}
