// D1 migrations: compatibility with the platform's statement splitter, and rules for the code.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { RemoteD1 } from '../../remote-d1.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const filesOf = (database: string) => globSync(`schemas/d1/${database}/*.sql`, { cwd: ROOT }).sort()
const MASTER = 'SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name'

describe.each(['accounts', 'usage', 'history'])('migrations of %s', (database) => {
  const files = filesOf(database)

  it('give the same result when split at every semicolon', () => {
    const remote = new RemoteD1()
    const whole = new DatabaseSync(':memory:')
    for (const file of files) {
      remote.query(`${read(file)}\nSELECT 1;`)
      whole.exec(read(file))
    }
    // Splitting does not change the text of a table, because no comment ends a statement.
    expect(remote.query(MASTER)[0]).toEqual(whole.prepare(MASTER).all())
  })

  it.each(files)('%s is safe for other statement splitters', (file) => {
    const text = read(file)
    expect(text).not.toMatch(/\r|\bTRIGGER\b|\bBEGIN\b|\/\*/i)
    const comments = text.match(/--.*/g) ?? []
    expect(comments.filter((comment) => /[;'"`]/.test(comment))).toEqual([])
    expect(text.replace(/--.*/g, '').match(/;.*\S.*$/gm)).toBeNull()
    expect(text).toMatch(/;\n$/)
  })
})

it('a trigger or a semicolon in a comment fails at such a splitter without effects', () => {
  const remote = new RemoteD1()
  const table = 'CREATE TABLE audit (number INTEGER PRIMARY KEY) STRICT;\n'
  const trigger =
    "CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;\n"
  expect(() => remote.query(table + trigger)).toThrow('incomplete input')
  const comment = 'CREATE TABLE sums (\n  -- As the path names it; empty: the gateway.\n  sum INTEGER\n) STRICT;\n'
  expect(() => remote.query(comment)).toThrow('incomplete input')
  expect(remote.query(MASTER)).toEqual([[]])
})

it('only the audit store writes to the audit log, and only inserts', () => {
  const writes = /\b(?:INSERT(?: OR \w+)?|REPLACE) INTO audit|\bUPDATE (?:OR \w+ )?audit|\bDELETE FROM audit/gi
  const files = globSync('src/**/*.ts', { cwd: ROOT })
  const found = files.flatMap((file) => (read(file).match(writes) ?? []).map((write) => `${file}: ${write}`))
  const store = 'src/http/platform/audit.store.ts'
  expect(found).toEqual([`${store}: INSERT INTO audit`, `${store}: INSERT INTO audit`])
  expect(read(store)).not.toMatch(/ON CONFLICT/i)
})

it('only the usage copy writes daily sums, in one batch', () => {
  const writes = /\b(?:INTO|UPDATE|FROM) usage_days/g
  const files = globSync('src/**/*.ts', { cwd: ROOT })
  const found = files.flatMap((file) => (read(file).match(writes) ?? []).map((write) => `${file}: ${write}`))
  expect(found.sort()).toEqual([
    'src/http/platform/endpoints/business.ts: FROM usage_days',
    'src/http/platform/usage-copy.store.ts: INTO usage_days',
  ])
})
