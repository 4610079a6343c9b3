// D1 and meters that were restored to different times, and an account that moves to another gateway.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { RecoveryStore } from '../../../src/accounts/recovery.store.ts'
import type { KeyHash } from '../../../src/core/ids.ts'
import { tablesOf } from '../../../src/metering/account-ledger.store.ts'
import { ask, bindings, meterOf, newKey } from './operator.worker.ts'

const MICRO = 1_000_000
interface Difference {
  readonly account: string
  readonly what: string
  readonly repair: string
}

/** All pages of an export or a comparison. */
async function pages(method: 'GET' | 'POST', path: string, body: object = {}) {
  const all: Awaited<ReturnType<typeof ask>>['json'][] = []
  for (let after: string | null = ''; after !== null; after = all.at(-1).next) {
    const isPost = method === 'POST'
    const { status, json } = await (isPost
      ? ask(method, path, { ...body, ...(after && { after }) })
      : ask(method, `${path}${after && `?after=${after}`}`))
    expect(status).toBe(200)
    all.push(json)
  }
  return all
}

/** Compares all accounts, and returns the differences of one. */
async function reconcile(account: string, apply = false): Promise<Difference[]> {
  const found = (await pages('POST', '/reconcile', { apply })).flatMap(({ differences }) => differences)
  return found.filter((one) => one.account === account)
}

interface Exported {
  readonly account: string
  readonly balance: number
  readonly keys: { readonly hash: KeyHash }[]
  readonly keys_left_out: number
}
async function exportOf(account: string): Promise<Exported> {
  const all = (await pages('GET', '/export')).flatMap(({ accounts }) => accounts)
  return all.find((one) => one.account === account)
}

const METER_TABLES = 'account grants included imported plan periods caps most usage copied key_ends heirs revoked'
async function wipeMeter(account: string) {
  await runInDurableObject(env.CREDIT_METER.getByName(account), (_, { storage }) => {
    for (const table of METER_TABLES.split(' ')) storage.sql.exec(`DELETE FROM ${table}`)
  })
}
/** Another gateway: no rows, and an empty meter. */
async function wipe(account: string) {
  for (const table of ['keys', 'grants']) await run(`DELETE FROM ${table} WHERE account = ?`, account)
  await run('DELETE FROM accounts WHERE id = ?', account)
  await wipeMeter(account)
}
async function move(account: string) {
  const exported = await exportOf(account)
  await wipe(account)
  expect((await ask('POST', '/import', exported)).json).toEqual({ account, imported: true })
}
const short = (found: readonly Difference[]) => found.map(({ what, repair }) => `${what} ${repair}`)
const run = (sql: string, ...values: unknown[]) =>
  bindings.ACCOUNTS.prepare(sql)
    .bind(...values)
    .run()
const use = (hash: string, micro: number) =>
  bindings.USAGE.prepare("INSERT INTO usage VALUES (?, 0, 'info', 'meta', 1, ?, 1)").bind(hash, micro).run()
const balance = async (account: string) => {
  const { available, spent, writtenOff } = await meterOf(account).balance()
  return { available, spent, writtenOff }
}

it('gives a forgotten grant once, and charges forgotten spending', async () => {
  const { account, hash } = await newKey({ credits: 10, cap: 5 })
  await meterOf(account).grantCredits('grant:known', MICRO)
  await run("INSERT INTO grants VALUES (?, 'grant:known', ?, 0)", account, MICRO)
  expect(await reconcile(account)).toEqual([])
  // The meter has lost a grant and three spent credits, and the key was revoked in D1 alone.
  await run("INSERT INTO grants VALUES (?, 'grant:lost', ?, 0)", account, 2 * MICRO)
  await use(hash, 3 * MICRO)
  await run('UPDATE keys SET revoked = 1, cap = ? WHERE hash = ?', MICRO, hash)
  const before = await balance(account)
  expect(short(await reconcile(account))).toEqual(['grant meter', 'used meter', 'revoked meter', 'cap meter'])
  expect(await balance(account)).toEqual(before)
  await reconcile(account, true)
  const after = { available: 10 * MICRO, spent: 3 * MICRO, writtenOff: 0 }
  expect(await balance(account)).toEqual(after)
  expect(await reconcile(account, true)).toEqual([])
  expect(await balance(account)).toEqual(after)
})

it('records in D1 what only the meter knows, and writes off what nobody can pay', async () => {
  const { account, hash } = await newKey({ credits: 1 })
  const meter = meterOf(account)
  await meter.grantCredits('grant:newer', MICRO)
  await meter.revokeKey(hash)
  await use(hash, 5 * MICRO)
  expect(short(await reconcile(account, true))).toEqual(['grant d1', 'used meter', 'revoked d1'])
  expect(await balance(account)).toEqual({ available: 0, spent: 2 * MICRO, writtenOff: 3 * MICRO })
  expect(await reconcile(account)).toEqual([])
  const row = await bindings.ACCOUNTS.prepare('SELECT revoked FROM keys WHERE hash = ?').bind(hash).first()
  expect(row?.revoked).not.toBeNull()
})

it('exports an account and imports it with its balance, once', async () => {
  const { account, hash } = await newKey({ credits: 10, cap: 5 })
  await run("INSERT INTO grants VALUES (?, 'grant:old', ?, 0)", account, 90 * MICRO)
  const exported = await exportOf(account)
  expect(exported).toMatchObject({ balance: 10 * MICRO, keys: [{ hash, cap: 5 * MICRO }] })
  await wipe(account)
  for (let time = 0; time < 2; time++) {
    const { status, json } = await ask('POST', '/import', exported)
    expect([status, json]).toEqual([200, { account, imported: true }])
    expect(await balance(account)).toEqual({ available: 10 * MICRO, spent: 0, writtenOff: 0 })
  }
  expect(await reconcile(account)).toEqual([])
  expect((await meterOf(account).balance(hash)).capLeft).toBe(5 * MICRO)
  const other = await ask('POST', '/import', { ...exported, created: 1, balance: 99 })
  expect(other.json).toEqual({ account, imported: false })
  const unknown = await ask('POST', '/import', { ...exported, account: 'elsewhere', plan: 'none' })
  expect([unknown.status, unknown.json.error_message]).toEqual([400, expect.stringContaining('plan: does not exist')])
})

it('imports an account that was imported before, with the whole balance', async () => {
  const { account } = await newKey({ credits: 10 })
  await move(account)
  await meterOf(account).grantCredits('grant:more', 5 * MICRO)
  await run("INSERT INTO grants VALUES (?, 'grant:more', ?, 5)", account, 5 * MICRO)
  await move(account)
  expect((await balance(account)).available).toBe(15 * MICRO)
  expect(await reconcile(account, true)).toEqual([])
  expect((await balance(account)).available).toBe(15 * MICRO)
})

it('gives no old grant again if an import stopped half-way', async () => {
  const { account, hash } = await newKey({ credits: 10 })
  await run("INSERT INTO grants VALUES (?, 'grant:spent', ?, 5)", account, 90 * MICRO)
  await run('UPDATE keys SET revoked = 1 WHERE hash = ?', hash)
  const exported = await exportOf(account)
  await wipe(account)
  const add = vi.spyOn(RecoveryStore.prototype, 'add').mockRejectedValueOnce(new Error('D1 is away'))
  expect((await ask('POST', '/import', exported)).status).toBe(500)
  add.mockRestore()
  expect(await reconcile(account, true)).toEqual([])
  await runInDurableObject(env.CREDIT_METER.getByName(account), (_, { storage }) =>
    expect(tablesOf(storage).store.isRevoked(hash)).toBe(true),
  )
  expect((await ask('POST', '/import', exported)).json).toEqual({ account, imported: true })
  expect((await balance(account)).available).toBe(10 * MICRO)
  expect(await reconcile(account)).toEqual([])
})

it('refuses an account whose meter is in use', async () => {
  const { account } = await newKey({ credits: 10 })
  const exported = await exportOf(account)
  await wipe(account)
  await meterOf(account).grantCredits('first', MICRO)
  const { status, json } = await ask('POST', '/import', exported)
  expect([status, json.error_message]).toEqual([409, expect.stringContaining('already has a plan or credits')])
  expect((await balance(account)).available).toBe(MICRO)
  expect(await bindings.ACCOUNTS.prepare('SELECT id FROM accounts WHERE id = ?').bind(account).first()).toBeNull()
})

it('does not charge the usage that D1 had before an import', async () => {
  const { account, hash } = await newKey({ credits: 10 })
  await use(hash, 50 * MICRO)
  const exported = await exportOf(account)
  await wipeMeter(account)
  expect((await ask('POST', '/import', exported)).json).toEqual({ account, imported: true })
  expect(await reconcile(account, true)).toEqual([])
  expect((await balance(account)).available).toBe(10 * MICRO)
  await bindings.USAGE.prepare("INSERT INTO usage VALUES (?, 1, 'info', 'meta', 1, ?, 1)").bind(hash, MICRO).run()
  expect(short(await reconcile(account, true))).toEqual(['used meter'])
  expect((await balance(account)).available).toBe(9 * MICRO)
})

it('leaves credits before an import out of statements', async () => {
  const { account } = await newKey({ credits: 10 })
  const day = 86_400_000
  const now = Date.now()
  await run("INSERT INTO grants VALUES (?, 'grant:old', ?, ?)", account, 90 * MICRO, now - 40 * day)
  await move(account)
  const { sums } = await meterOf(account).statementSums([now - 60 * day, now - 30 * day, now + day])
  expect(sums.map(({ opening, granted, closing }) => [opening, granted, closing])).toEqual([
    [0, 0, 0],
    [0, 10 * MICRO, 10 * MICRO],
  ])
})

const MINUTE = { subscription: 'r/1', ordinal: 0, count: 1, type: 'x', amount: MICRO, body: 'b', leftMs: 60_000 }
/** Charges a minute of a stream, or refunds it. */
function minute(account: string, hash: KeyHash, isRefund = false) {
  const report = {
    v: 1,
    relay: 'r',
    life: 1,
    alive: null,
    sockets: 1,
    subscriptions: 1,
    perMinute: MICRO,
    keys: [hash],
  }
  const end = { subscription: 'r/1', body: 'b', leftMs: 1, unserved: { type: 'x', amount: MICRO } }
  return meterOf(account).stream({
    ...report,
    limits: { connections: 10, subscriptions: 10 },
    connects: [],
    charges: isRefund ? [] : [{ ...MINUTE, keyHash: hash }],
    ends: isRefund ? [end] : [],
  } as never)
}

const uncopiedMs = (account: string) =>
  runInDurableObject(env.CREDIT_METER.getByName(account), (_, { storage }) => tablesOf(storage).store.uncopiedMs())

it('does not charge a refunded minute again', async () => {
  const { account, hash } = await newKey({ credits: 10 })
  await minute(account, hash)
  expect(await uncopiedMs(account)).toBeGreaterThan(0)
  await reconcile(account)
  expect(await uncopiedMs(account)).toBe(0)
  await use(hash, MICRO)
  // The refund comes between the copy and the comparison.
  const { used } = RecoveryStore.prototype
  const spy = vi.spyOn(RecoveryStore.prototype, 'used').mockImplementation(async function (this: RecoveryStore, ...of) {
    if (of[1].account === account) await minute(account, hash, true)
    return used.apply(this, of)
  })
  expect(await reconcile(account, true)).toEqual([])
  spy.mockRestore()
  expect(await balance(account)).toMatchObject({ available: 10 * MICRO, spent: 0 })
})

it('counts earlier spending under a repaired cap', async () => {
  const { account, hash } = await newKey({ credits: 10 })
  await minute(account, hash)
  await use(hash, MICRO)
  await run('UPDATE keys SET cap = ? WHERE hash = ?', 5 * MICRO, hash)
  expect(short(await reconcile(account, true))).toEqual(['cap meter'])
  expect((await meterOf(account).balance(hash)).capLeft).toBe(4 * MICRO)
  // The meter forgets the cap and the usage.
  await runInDurableObject(env.CREDIT_METER.getByName(account), (_, { storage }) => {
    for (const table of ['caps', 'usage']) storage.sql.exec(`DELETE FROM ${table}`)
  })
  await reconcile(account, true)
  expect((await meterOf(account).balance(hash)).capLeft).toBe(4 * MICRO)
})

it('keeps one cap for a chain of rotations', async () => {
  const { account, hash } = await newKey({ credits: 10, cap: 5 })
  const chain = [hash]
  for (let created = 1; created < 3; created++) {
    const { json } = await ask('POST', `/keys/${chain.at(-1)}/rotate`, { grace_seconds: 86_400 })
    chain.push(json.hash)
    await run('UPDATE keys SET created = created + ? WHERE hash = ?', created, json.hash)
  }
  await move(account)
  await minute(account, chain[2]!)
  for (const key of chain) expect((await meterOf(account).balance(key)).capLeft).toBe(4 * MICRO)
})

it('names an account that fails, and handles the others', async () => {
  const bad = await newKey({ credits: 1 })
  const good = await newKey({ credits: 1 })
  const broken = (usage: string) =>
    runInDurableObject(env.CREDIT_METER.getByName(bad.account), (_, { storage }) => {
      storage.sql.exec('UPDATE account SET usage = ?', usage)
    })
  await broken('x')
  for (const [method, path] of [
    ['GET', '/export'],
    ['POST', '/reconcile'],
  ] as const) {
    const seen: string[] = []
    for (const page of await pages(method, path)) {
      seen.push(...page.failed)
      for (const { account } of page.accounts ?? []) if (account === good.account) seen.push(account)
    }
    expect(seen.toSorted()).toEqual(method === 'GET' ? [bad.account, good.account].toSorted() : [bad.account])
  }
  await broken('[]')
})

it('exports live keys first, and says how many keys it leaves out', async () => {
  const { account, hash } = await newKey({ credits: 1 })
  await run(
    `INSERT INTO keys (hash, account, prefix, label, kind, products, created, revoked)
     WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1001)
     SELECT printf('%064x', n), account, prefix, label, kind, products, created + n, 1 FROM number, keys WHERE hash = ?`,
    hash,
  )
  const { keys, keys_left_out } = await exportOf(account)
  expect([keys[0]?.hash, keys.length, keys_left_out]).toEqual([hash, 1_000, 2])
  await run('DELETE FROM keys WHERE account = ?', account)
})
