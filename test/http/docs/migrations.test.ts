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

it('only the usage copy writes hourly and daily sums, in one batch', () => {
  const writes = /\b(?:INTO|UPDATE|FROM) usage_(?:days|hours)|addTo\('usage_\w+/g
  const files = globSync('src/**/*.ts', { cwd: ROOT })
  const found = files.flatMap((file) => (read(file).match(writes) ?? []).map((write) => `${file}: ${write}`))
  expect(found.sort()).toEqual([
    'src/http/platform/endpoints/business.ts: FROM usage_days',
    'src/http/platform/endpoints/trend.ts: FROM usage_days',
    'src/http/platform/endpoints/trend.ts: FROM usage_hours',
    'src/http/platform/usage-copy.store.ts: FROM usage_hours',
    "src/http/platform/usage-copy.store.ts: addTo('usage_days",
    "src/http/platform/usage-copy.store.ts: addTo('usage_hours",
  ])
})

it('orders keep their rows and their numbers when payments by x402 are added', () => {
  const database = new DatabaseSync(':memory:')
  const [first = '', ...later] = filesOf('accounts')
  database.exec(read(first))
  database.exec("INSERT INTO accounts VALUES ('acme', 'entry', 1, NULL)")
  const insert = `INSERT INTO orders (seq, number, account, micro, minor, currency, provider, state, reference, created, paid, granted, note)
    VALUES (?, ?, 'acme', 5, 7, 'eur', ?, ?, ?, 1, ?, ?, ?)`
  database.prepare(insert).run(7, 'W-7-aaaa', 'stripe', 'paid', 'cs_1', 2, 3, 'refunded')
  database.prepare(insert).run(9, 'W-9-aaaa', 'manual', 'open', null, null, null, null)
  const rows = () => database.prepare('SELECT * FROM orders ORDER BY seq').all()
  const before = rows()
  for (const file of later) database.exec(read(file))
  expect(rows()).toEqual(
    before.map((row) => ({ ...row, receipt: null, terms: null, buyer: null, refund_time: null, mandate: null })),
  )
  const { lastInsertRowid } = database
    .prepare(insert)
    .run(null, 'W-10-aaaa', 'x402', 'paid', 'eip155:1:a:1', 2, 3, null)
  expect(lastInsertRowid).toBe(10)
  expect(() =>
    database.prepare(insert).run(null, 'W-11-aaaa', 'x402', 'open', 'eip155:1:a:1', null, null, null),
  ).toThrow('UNIQUE')
})

it('nobody is signed out when members are added, and the earlier version can still sign people in', () => {
  const database = new DatabaseSync(':memory:')
  const files = filesOf('accounts')
  const members = files.findIndex((file) => file.endsWith('_members.sql'))
  for (const file of files.slice(0, members)) database.exec(read(file))
  database.exec(`INSERT INTO accounts VALUES ('acme', 'entry', 1, NULL);
    INSERT INTO keys (hash, prefix, label, account, kind, products, created) VALUES ('k', 'cqs_1', '', 'acme', 'service', '[]', 1)`)
  const signIn = 'INSERT INTO sessions (hash, kind, token_hash, created, expires) VALUES (?, ?, ?, 5, 9)'
  database.prepare(signIn).run('one', 'key', 'k')
  database.prepare(signIn).run('two', 'admin', 'k')
  for (const file of files.slice(members)) database.exec(read(file))
  database.prepare(signIn).run('three', 'staff', 't')
  const rows = database.prepare('SELECT * FROM sessions ORDER BY created, kind').all()
  const common = {
    member: null,
    invited: 0,
    created: 5,
    expires: 9,
    browser: '',
    place: '',
    id: expect.stringMatching(/^s-[1-9A-HJ-NP-Za-km-z]{16}$/),
  }
  expect(rows).toEqual([
    { ...common, hash: 'two', kind: 'admin', token_hash: 'k', account: null, seen: 5 },
    { ...common, hash: 'one', kind: 'key', token_hash: 'k', account: 'acme', seen: 5 },
    { ...common, hash: 'three', kind: 'staff', token_hash: 't', account: null, seen: expect.any(Number) },
  ])
})
