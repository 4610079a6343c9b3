// D1 and meters that were restored to different times, and an account that moves to another gateway.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { ask, bindings, meterOf, newKey } from './operator.worker.ts'

const MICRO = 1_000_000
interface Difference {
  readonly account: string
  readonly what: string
  readonly repair: string
}

/** Compares all accounts, and returns the differences of one. */
async function reconcile(account: string, apply = false): Promise<Difference[]> {
  const found: Difference[] = []
  for (let after: string | null = ''; after !== null; ) {
    const { status, json } = await ask('POST', '/reconcile', { apply, ...(after && { after }) })
    expect(status).toBe(200)
    found.push(...json.differences)
    after = json.next
  }
  return found.filter((one) => one.account === account)
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
  let exported: { account: string; balance: number; keys: { hash: string }[] } | undefined
  for (let after: string | null = ''; after !== null && exported === undefined; ) {
    const { json } = await ask('GET', `/export${after && `?after=${after}`}`)
    exported = json.accounts.find((one: { account: string }) => one.account === account)
    after = json.next
  }
  expect(exported).toMatchObject({ balance: 10 * MICRO, keys: [{ hash, cap: 5 * MICRO }] })
  // Another gateway: no rows, and an empty meter.
  for (const table of ['keys', 'grants']) await run(`DELETE FROM ${table} WHERE account = ?`, account)
  await run('DELETE FROM accounts WHERE id = ?', account)
  await runInDurableObject(env.CREDIT_METER.getByName(account), (_, { storage }) => {
    for (const table of ['account', 'grants', 'plan', 'periods', 'caps', 'most'])
      storage.sql.exec(`DELETE FROM ${table}`)
  })
  for (let time = 0; time < 2; time++) {
    const { status, json } = await ask('POST', '/import', exported)
    expect([status, json]).toEqual([200, { account, imported: true }])
    expect(await balance(account)).toEqual({ available: 10 * MICRO, spent: 0, writtenOff: 0 })
  }
  expect(await reconcile(account)).toEqual([])
  expect((await meterOf(account).balance(exported!.keys[0]!.hash as never)).capLeft).toBe(5 * MICRO)
  const other = await ask('POST', '/import', { ...exported, created: 1, balance: 99 })
  expect(other.json).toEqual({ account, imported: false })
  const unknown = await ask('POST', '/import', { ...exported, account: 'elsewhere', plan: 'none' })
  expect([unknown.status, unknown.json.error_message]).toEqual([400, expect.stringContaining('plan: does not exist')])
})
