import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import { HOUR_MS } from '../../src/core/time.ts'
import { storeUsage } from '../../src/http/platform/usage-copy.store.ts'
import type { LeaseRequest } from '../../src/metering/lease-api.ts'
import { LeasePool } from '../../src/metering/leases.client.ts'
import { LEASE_TTL_MS, RECLAIM_GRACE_MS } from '../../src/metering/ledger.ts'
import { MeterStore } from '../../src/metering/meter.store.ts'
import type { MeterApi } from '../../src/metering/meter-api.ts'
import { PLANS } from '../../src/metering/plans/plan.ts'
import type { LogBatch } from '../../src/metering/request-log/log-api.ts'
import { callsOf } from '../../src/metering/request-log/log-lines.ts'
import type { TopUpAnswer } from '../../src/metering/top-up-watch.ts'
import { hourOf, type UsageRow } from '../../src/metering/usage.ts'
import { identityOf } from '../kit/identity.ts'
import { CREDIT, meterOf, spend, stubOf } from './meter.worker.ts'

/** Usage, that of this hour included. */
const USED = `SELECT key_hash, product, type, sum(calls) AS calls, sum(amount) AS amount
  FROM (SELECT key_hash, product, type, calls, amount FROM usage
    UNION ALL SELECT value ->> 'keyHash', value ->> 'product', value ->> 'type', value ->> 'calls', value ->> 'amount'
    FROM account, json_each(account.usage))
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`
const K = keyHashOf('k')

const request = (over: Partial<LeaseRequest>): LeaseRequest => ({
  v: 1,
  lease: 'l1',
  keyHash: K,
  spent: 0,
  usage: [],
  need: 0,
  waiting: 0,
  forecast: 0,
  close: false,
  ...over,
})
const granted = async (account: string, amount: number) => {
  await meterOf(account).grantCredits('g', amount)
  return meterOf(account)
}
const usageOf = (account: string) =>
  runInDurableObject(stubOf(account), (_, { storage }) => storage.sql.exec(USED).toArray())

describe('CreditMeter', () => {
  it('grants once per id and rejects the id with another amount', async () => {
    const meter = meterOf('grants')
    expect(await meter.grantCredits('g', 5)).toMatchObject({ ok: true, repeated: false })
    expect(await meter.grantCredits('g', 5)).toMatchObject({ ok: true, repeated: true, account: { available: 5 } })
    expect(await meter.grantCredits('g', 6)).toMatchObject({ ok: false, reason: 'conflict' })
    expect(await meter.grantCredits('h', Number.MAX_SAFE_INTEGER)).toMatchObject({ ok: false, reason: 'too_large' })
    expect(await meter.balance()).toMatchObject({ available: 5, granted: 5 })
  })

  it('grants and charges a call that was paid for in one step, once per id', async () => {
    const meter = await granted('payer in one step', 5)
    const call = { keyHash: K, product: 'info', type: 'l2Book' }
    const paid = { available: 5, granted: 12, spent: 7 }
    expect(await meter.grantCredits('p', 7, call)).toMatchObject({ ok: true, repeated: false, account: paid })
    expect(await meter.grantCredits('p', 7, call)).toMatchObject({ ok: true, repeated: true, account: paid })
    expect(await meter.grantCredits('p', 7)).toMatchObject({ ok: true, repeated: true, account: paid })
    expect(await meter.grantCredits('p', 8, call)).toMatchObject({ ok: false, reason: 'conflict' })
    // A grant that came first stays a grant.
    expect(await meter.grantCredits('g', 5, call)).toMatchObject({ ok: true, repeated: true, account: paid })
    expect(await usageOf('payer in one step')).toEqual([
      { key_hash: 'k', product: 'info', type: 'l2Book', calls: 1, amount: 7 },
    ])
    const { opening, granted: given, charged, closing } = await meter.statement(0, Date.now() + HOUR_MS)
    expect([opening, given, charged, closing]).toEqual([0, 12, 7, 5])
  })

  // PIPE-25, PIPE-27
  it('charges the increase of a pipeline’s totals once, up to balance and cap, and writes off the rest', async () => {
    const meter = await granted('pipelines', 1_000)
    const settle = (rows: number, over: object = {}) =>
      meter.settlePipeline({ v: 1, pipeline: 'pipe_1', keyHash: K, type: 'fills', rows, spent: rows * 100, ...over })
    expect(await settle(0)).toEqual({ v: 1, available: 1_000, cap: undefined })
    expect(await settle(4)).toMatchObject({ available: 600 })
    // Repeated and late reports change nothing.
    expect(await settle(4)).toMatchObject({ available: 600 })
    expect(await settle(3)).toMatchObject({ available: 600 })
    await meter.revokeKey(K)
    expect(await settle(6)).toMatchObject({ available: 400 })
    await meter.capKey(K, 700)
    expect(await settle(6)).toMatchObject({ available: 100, cap: 700 })
    expect(await settle(9)).toMatchObject({ available: 0, cap: 700 })
    expect(await meter.balance()).toMatchObject({ available: 300, spent: 700, writtenOff: 200 })
    const other = { pipeline: 'pipe_2', keyHash: 'other', type: 'ledger' }
    expect(await settle(5, other)).toMatchObject({ available: 0 })
    expect(await meter.balance()).toMatchObject({ available: 0, spent: 1_000, writtenOff: 400, granted: 1_000 })
    expect(await usageOf('pipelines')).toEqual([
      { key_hash: 'k', product: 'pipeline', type: 'fills', calls: 9, amount: 700 },
      { key_hash: 'other', product: 'pipeline', type: 'ledger', calls: 5, amount: 300 },
    ])
  })

  // PIPE-27
  it('reserves the cost of a batch in transit against other pipelines until it is reported', async () => {
    const meter = await granted('holds', 1_000)
    await meter.capKey(keyHashOf('capped'), 500)
    const left = async (pipeline: string, keyHash: string, hold: number, rows = 0) => {
      const report = { v: 1, pipeline, keyHash: keyHashOf(keyHash), type: 'fills', rows, spent: rows * 100, hold }
      return (await meter.settlePipeline(report)).available
    }
    expect(await left('pipe_1', 'k', 700)).toBe(1_000)
    expect([await left('pipe_2', 'k', 700), await left('pipe_2', 'k', 300), await left('pipe_3', 'k', 1)]).toEqual([
      ...[300, 300, 0],
    ])
    // A pipeline's own hold does not block it and is replaced by the next.
    expect([await left('pipe_1', 'k', 100), await left('pipe_3', 'capped', 450)]).toEqual([700, 500])
    expect([await left('pipe_4', 'capped', 0), await left('pipe_4', 'k', 0)]).toEqual([50, 150])
    expect([await left('pipe_3', 'capped', 0, 4), await left('pipe_4', 'capped', 0)]).toEqual([100, 100])
    expect(await meter.balance()).toMatchObject({ available: 600, spent: 400, writtenOff: 0 })
  })

  // PIPE-29
  it('reports the end of a pipeline key without a successor, and charges anyway', async () => {
    const meter = await granted('ends', 1_000)
    const settle = (keyHash: string, rows = 0) =>
      meter.settlePipeline({
        v: 1,
        pipeline: 'pipe_1',
        name: 'p',
        keyHash: keyHashOf(keyHash),
        type: 'fills',
        rows,
        spent: rows * 100,
      })
    const ended = async (keyHash: string) => (await settle(keyHash)).ended
    await meter.endKey(keyHashOf('a'), Date.now() + 60_000)
    expect(await ended('a')).toBeUndefined()
    await meter.endKey(keyHashOf('a'), Date.now() - 1)
    expect(await ended('a')).toBe('expired')
    await meter.endKey(keyHashOf('a'), null)
    expect(await ended('a')).toBeUndefined()
    // In a rotation, the successor continues, no matter which of the two messages comes first.
    await meter.replaceKey(keyHashOf('b'), keyHashOf('c'))
    await meter.replaceKey(keyHashOf('a'), keyHashOf('b'))
    await meter.revokeKey(keyHashOf('a'))
    await meter.revokeKey(keyHashOf('b'))
    expect([await ended('a'), await ended('b'), await ended('c')]).toEqual([undefined, undefined, undefined])
    expect(await settle('a', 1)).toMatchObject({ available: 900 })
    await meter.endKey(keyHashOf('c'), Date.now() - 1)
    expect([await ended('a'), await ended('c')]).toEqual(['expired', 'expired'])
    await meter.revokeKey(keyHashOf('c'))
    expect([await ended('a'), await settle('b', 3)]).toMatchObject(['revoked', { available: 700, ended: 'revoked' }])
    expect(await usageOf('ends')).toEqual([
      { key_hash: 'c', product: 'pipeline', type: 'fills', calls: 3, amount: 300 },
    ])
  })

  it('serves exactly the balance to 1,000 concurrent charges', async () => {
    const meter = await granted('concurrent', 100 * CREDIT)
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => spend(meter, 'k', CREDIT)))
    expect(answers.filter((answer) => answer.ok)).toHaveLength(100)
    expect(await meter.balance()).toMatchObject({ available: 0, spent: 100 * CREDIT })
  })

  it('starts a plan once, renews it by alarm and by any request, and stores a row per period', async () => {
    const name = 'planned'
    const order = { plan: 'entry', terms: PLANS.entry.terms, firstMicro: null }
    expect(await meterOf(name).beginPlan(order)).toBe(true)
    expect(await meterOf(name).beginPlan({ ...order, plan: 'professional' })).toBe(false)
    await meterOf(name).grantCredits('top-up', 5 * CREDIT)
    await spend(meterOf(name), 'k', 4_000 * CREDIT)
    const endPeriod = (ms: number) =>
      runInDurableObject(stubOf(name), (_, state) => {
        state.storage.sql.exec('UPDATE plan SET until = ?', Date.now() - ms)
      })
    await endPeriod(0)
    await evictDurableObject(stubOf(name))
    expect(await runDurableObjectAlarm(stubOf(name))).toBe(true)
    expect(await meterOf(name).balance()).toMatchObject({ available: 10_005 * CREDIT, spent: 4_000 * CREDIT })
    await endPeriod(1)
    await evictDurableObject(stubOf(name))
    expect(await spend(meterOf(name), 'k', CREDIT)).toMatchObject({ ok: true })
    expect(await meterOf(name).balance()).toMatchObject({ available: 10_004 * CREDIT })
    expect(await meterOf(name).plan()).toMatchObject({ plan: 'entry', micro: 10_000 * CREDIT })
    const periods = await runInDurableObject(stubOf(name), (_, state) =>
      state.storage.sql.exec('SELECT plan, granted, expired FROM periods ORDER BY number').toArray(),
    )
    expect(periods).toEqual([
      { plan: 'entry', granted: 10_000 * CREDIT, expired: 6_000 * CREDIT },
      { plan: 'entry', granted: 10_000 * CREDIT, expired: 10_000 * CREDIT },
      { plan: 'entry', granted: 10_000 * CREDIT, expired: null },
    ])
    expect(
      await meterOf(name).changePlan({ ...order, plan: 'enterprise', terms: { ...order.terms, micro: 7 * CREDIT } }),
    ).toMatchObject({
      plan: 'enterprise',
      micro: 7 * CREDIT,
    })
    expect(await meterOf(name).balance()).toMatchObject({ available: 12 * CREDIT })
  })

  it('asks for a top-up when the balance is low, again after a failure, and not after the answer "off"', async () => {
    const name = 'topped-up'
    const calls: (readonly [string, boolean])[] = []
    let answer: TopUpAnswer | null = null
    const topUp = async (account: string, isLow: boolean) => {
      calls.push([account, isLow])
      if (answer === null) throw new Error('away')
      if (answer.state === 'idle') await meterOf(name).grantCredits('top-up', 100 * CREDIT)
      return answer
    }
    const gateway = { topUp, storeUsage: async () => {} }
    await runInDurableObject(stubOf(name), (object) => {
      Object.defineProperty(object, 'env', { value: { GATEWAY: gateway }, configurable: true })
    })
    const next = () =>
      runInDurableObject(
        stubOf(name),
        (_, { storage }) => storage.sql.exec('SELECT next FROM top_up').toArray()[0]?.next,
      )
    const watch = (isNew: boolean) => meterOf(name).watchTopUp({ account: name, below: 50 * CREDIT }, isNew)
    await meterOf(name).grantCredits('g', 100 * CREDIT)
    await watch(true)
    expect([await next(), calls]).toEqual([null, []])
    await spend(meterOf(name), 'k', 60 * CREDIT)
    await expect.poll(() => calls.length).toBe(1)
    const repeated = (await next()) as number
    expect(repeated).toBeGreaterThan(Date.now())
    // A page that shows the settings changes nothing.
    await watch(false)
    expect(await next()).toBe(repeated)
    answer = { state: 'idle' }
    await watch(true)
    await expect.poll(next).toBeNull()
    answer = { state: 'off' }
    await spend(meterOf(name), 'k', 100 * CREDIT)
    await expect.poll(next).toBeUndefined()
    expect(calls).toEqual(Array.from({ length: 3 }, () => [name, true]))
  })

  it('copies usage to D1 without losing or doubling rows, whatever happens to a copy', async () => {
    const name = 'copied'
    const db = (env as unknown as Cloudflare.Env).USAGE
    await meterOf(name).grantCredits('g', 1_000 * CREDIT)
    let fate: 'kept' | 'lost before' | 'lost after' = 'kept'
    let grows = false
    const keep = async (rows: readonly UsageRow[]) => {
      if (fate === 'lost before') throw new Error('away')
      if (grows) await spend(meterOf(name), 'copied', CREDIT)
      await storeUsage(db, rows)
      if (fate === 'lost after') throw new Error('away')
    }
    const copied = async () =>
      (await db
        .prepare("SELECT sum(calls) AS calls, sum(micro) AS micro FROM usage WHERE key_hash = 'copied'")
        .first()) as {
        calls: number | null
        micro: number | null
      }
    const alarm = async () => {
      await runInDurableObject(stubOf(name), (object, { storage }) => {
        Object.defineProperty(object, 'env', { value: { GATEWAY: { storeUsage: keep } }, configurable: true })
        storage.sql.exec('UPDATE account SET uncopied = 1')
        return storage.setAlarm(Date.now() + 60_000)
      })
      expect(await runDurableObjectAlarm(stubOf(name))).toBe(true)
    }
    await spend(meterOf(name), 'copied', CREDIT)
    fate = 'lost before'
    await alarm()
    expect(await copied()).toEqual({ calls: null, micro: null })
    await spend(meterOf(name), 'copied', CREDIT)
    fate = 'lost after'
    await alarm()
    expect(await copied()).toEqual({ calls: 2, micro: 2 * CREDIT })
    await evictDurableObject(stubOf(name))
    fate = 'kept'
    await alarm()
    expect(await copied()).toEqual({ calls: 2, micro: 2 * CREDIT })
    // A call recorded while its hour is being copied is copied in the next round.
    await spend(meterOf(name), 'copied', CREDIT)
    grows = true
    await alarm()
    grows = false
    await alarm()
    const { spent } = await meterOf(name).balance()
    expect(await copied()).toMatchObject({ micro: spent })
    const [row] = await runInDurableObject(stubOf(name), (_, { storage }) =>
      storage.sql.exec('SELECT uncopied FROM account').toArray(),
    )
    expect(row).toEqual({ uncopied: 0 })
    expect((await meterOf(name).usage(0, Date.now() + 1)).byKey).toMatchObject([{ keyHash: 'copied', amount: spent }])
  })

  it('copies an hour again after a refund, and no other past hour', async () => {
    const rows = await runInDurableObject(stubOf('refunded hour'), (_, { storage }) => {
      const store = new MeterStore(storage)
      const start = hourOf(Date.now())
      const count = (calls: number, nowMs: number, atMs = nowMs) => {
        const lines = [{ product: 'stream', type: 'trades', calls, amount: calls }]
        store.transact(() => store.addUsage(keyHashOf('k'), lines, nowMs, atMs))
      }
      const hours = () => store.usageToCopy(null, 10).map(({ hour, calls }) => [(hour - start) / HOUR_MS, calls])
      for (const hour of [0, 1, 2]) count(5, start + hour * HOUR_MS)
      const first = hours()
      store.markCopied(start + 2 * HOUR_MS, store.changes())
      const second = hours()
      count(-1, start + 2 * HOUR_MS, start + HOUR_MS)
      return [first, second, hours()]
    })
    const all = [0, 1, 2].map((hour) => [hour, 5])
    expect(rows).toEqual([
      all,
      [[2, 5]],
      [
        [1, 4],
        [2, 5],
      ],
    ])
  })

  it('limits a capped key to its cap, through leases and charges, and does not limit others', async () => {
    const meter = await granted('capped', 1_000 * CREDIT)
    expect(await spend(meter, 'c', 2 * CREDIT)).toMatchObject({ ok: true })
    await meter.capKey(keyHashOf('c'), 5 * CREDIT)
    const lease = (over: Partial<LeaseRequest>) => meter.lease(request({ keyHash: keyHashOf('c'), ...over }))
    const more = { need: CREDIT, waiting: CREDIT, forecast: 100 * CREDIT }
    expect(await lease({ lease: 'c1', ...more })).toMatchObject({
      ok: true,
      granted: CREDIT,
      remaining: 2 * CREDIT,
      left: 3 * CREDIT,
    })
    const short = { reason: 'exhausted', remaining: 2 * CREDIT, cap: 5 * CREDIT }
    expect(await spend(meter, 'c', 3 * CREDIT)).toMatchObject(short)
    expect(await spend(meter, 'd', 2_000 * CREDIT)).toMatchObject({ reason: 'exhausted', cap: undefined })
    expect(await spend(meter, 'c', 2 * CREDIT)).toMatchObject({ ok: true })
    expect(await lease({ lease: 'c2', ...more })).toMatchObject({
      reason: 'exhausted',
      remaining: 0,
      cap: 5 * CREDIT,
      left: CREDIT,
    })
    expect(await meter.balance(keyHashOf('c'))).toMatchObject({ capLeft: CREDIT })
    expect(await meter.balance(keyHashOf('d'))).not.toHaveProperty('capLeft')
    expect(await spend(meter, 'd', 9 * CREDIT)).toMatchObject({ ok: true })
    // Credits returned from a lease may be spent again. Spent credits count, even after a restart.
    const usage = [{ product: 'info', type: 'meta', calls: 1, amount: CREDIT / 2 }]
    await lease({ lease: 'c1', spent: CREDIT / 2, usage, close: true })
    await evictDurableObject(stubOf('capped'))
    expect(await spend(meter, 'c', CREDIT / 2)).toMatchObject({ ok: true })
    expect(await spend(meter, 'c', 1)).toMatchObject({ reason: 'exhausted', remaining: 0 })
    await meter.capKey(keyHashOf('c'), 6 * CREDIT)
    expect(await spend(meter, 'c', CREDIT)).toMatchObject({ ok: true })
    expect(await spend(meter, 'c', 1)).toMatchObject({ ok: false })
    await meter.capKey(keyHashOf('c'), null)
    expect(await spend(meter, 'c', 100 * CREDIT)).toMatchObject({ ok: true })
  })

  it("writes off late reports of a reclaimed lease beyond the key's cap", async () => {
    const meter = await granted('capped late', 1_000 * CREDIT)
    await meter.capKey(keyHashOf('c'), 5 * CREDIT)
    const lease = (over: Partial<LeaseRequest>) => meter.lease(request({ keyHash: keyHashOf('c'), ...over }))
    await lease({ need: 5 * CREDIT, waiting: 5 * CREDIT })
    await runInDurableObject(stubOf('capped late'), (_, state) => {
      state.storage.sql.exec('UPDATE leases SET until = until - ?', LEASE_TTL_MS + RECLAIM_GRACE_MS)
    })
    await runDurableObjectAlarm(stubOf('capped late'))
    expect(await spend(meter, 'c', 3 * CREDIT)).toMatchObject({ ok: true })
    for (let i = 0; i < 2; i++) await lease({ spent: 4 * CREDIT })
    expect(await meter.balance()).toMatchObject({ spent: 5 * CREDIT, writtenOff: 2 * CREDIT, held: 0 })
    await meter.capKey(keyHashOf('c'), 6 * CREDIT)
    expect(await spend(meter, 'c', CREDIT)).toMatchObject({ ok: true })
    expect(await spend(meter, 'c', 1)).toMatchObject({ ok: false })
  })

  it('keeps the usage of each hour when the clock is set back', async () => {
    await runInDurableObject(stubOf('set back'), (_, { storage }) => {
      const store = new MeterStore(storage)
      const line = { product: 'info', type: 'meta', calls: 1, amount: 7 }
      const add = (atMs: number) => store.transact(() => store.addUsage(K, [line], atMs))
      const copied = () =>
        store.usageToCopy(null, 9).map(({ hour, ...row }) => [hour / HOUR_MS, row.amount, row.changes])
      add(9 * HOUR_MS + 1)
      add(10 * HOUR_MS + 1)
      expect(copied()).toEqual([
        [9, 7, 1],
        [10, 7, 1],
      ])
      store.markCopied(10 * HOUR_MS + 2, store.changes())
      add(10 * HOUR_MS - 1)
      expect(copied()).toEqual([
        [9, 14, 2],
        [10, 7, 1],
      ])
      add(10 * HOUR_MS + 3)
      expect(copied()).toEqual([
        [9, 14, 2],
        [10, 14, 2],
      ])
      expect(store.uncopiedMs()).toBe(10 * HOUR_MS - 1)
      // An alarm of the next hour has copied everything.
      store.transact(() => store.settleUsage(11 * HOUR_MS))
      store.markCopied(11 * HOUR_MS, store.changes())
      add(11 * HOUR_MS - 1)
      expect(copied()).toEqual([[10, 21, 3]])
    })
  })

  it('grants request tokens with a lease, from one bucket for all isolates', async () => {
    const meter = await granted('requests', 10 * CREDIT)
    const requests = { bucket: 'rest', perSecond: 4, need: 3, forecast: 0 }
    const ask = (lease: string) => meter.lease(request({ lease, requests }))
    expect(await ask('r1')).toMatchObject({ ok: true, requests: { granted: 3 } })
    expect(await ask('r2')).toMatchObject({ ok: true, requests: { granted: 1, remaining: 0 } })
    const none = await ask('r3')
    expect(none.ok && none.requests?.waitMs).toBeGreaterThan(0)
    expect(await meter.lease(request({ lease: 'r4' }))).not.toHaveProperty('requests')
  })

  it('counts cumulative reports once, repeated or out of order', async () => {
    const meter = await granted('reports', 10 * CREDIT)
    const usage = (calls: number) => [{ product: 'info', type: 'meta', calls, amount: calls * CREDIT }]
    const opened = await meter.lease(request({ need: CREDIT, waiting: 5 * CREDIT }))
    expect(opened).toMatchObject({ ok: true, granted: 5 * CREDIT, remaining: 5 * CREDIT, ttlMs: LEASE_TTL_MS })
    for (const spent of [1, 3, 3, 2]) await meter.lease(request({ spent: spent * CREDIT, usage: usage(spent) }))
    expect(await meter.balance()).toMatchObject({ available: 5 * CREDIT, held: 2 * CREDIT, spent: 3 * CREDIT })
    expect(await meter.lease(request({ spent: 4 * CREDIT, usage: usage(4), close: true }))).toMatchObject({ ok: true })
    expect(await meter.lease(request({ spent: 4 * CREDIT, need: CREDIT, waiting: CREDIT }))).toMatchObject({
      ok: false,
      reason: 'gone',
    })
    expect(await meter.lease(request({ spent: 4 * CREDIT, usage: usage(4), close: true }))).toMatchObject({
      ok: false,
      reason: 'gone',
    })
    expect(await meter.balance()).toMatchObject({ available: 6 * CREDIT, held: 0, spent: 4 * CREDIT })
    expect(await usageOf('reports')).toMatchObject([{ key_hash: 'k', product: 'info', type: 'meta', calls: 4 }])
  })

  it('reclaims a silent lease by alarm, and charges a late report up to the balance', async () => {
    const meter = await granted('reclaim', 2 * CREDIT)
    await meter.lease(request({ need: 2 * CREDIT, waiting: 2 * CREDIT }))
    expect(await runDurableObjectAlarm(stubOf('reclaim'))).toBe(true)
    expect(await meter.balance()).toMatchObject({ held: 2 * CREDIT })
    await runInDurableObject(stubOf('reclaim'), (_, state) => {
      const long = LEASE_TTL_MS + RECLAIM_GRACE_MS
      state.storage.sql.exec('UPDATE leases SET until = until - ?', long)
    })
    expect(await runDurableObjectAlarm(stubOf('reclaim'))).toBe(true)
    expect(await meter.balance()).toMatchObject({ available: 2 * CREDIT, held: 0 })
    expect(await spend(meter, 'k', CREDIT)).toMatchObject({ ok: true })
    expect(await meter.lease(request({ spent: 2 * CREDIT }))).toMatchObject({ ok: false, reason: 'gone', remaining: 0 })
    await meter.lease(request({ spent: 2 * CREDIT }))
    expect(await meter.balance()).toMatchObject({
      available: 0,
      held: 0,
      spent: 2 * CREDIT,
      granted: 2 * CREDIT,
      writtenOff: CREDIT,
    })
  })

  it('keeps a log of calls once, through repeats and restarts, and deletes it when it is too old', async () => {
    const name = 'logged'
    await granted(name, 1_000 * CREDIT)
    const call = { keyHash: K, product: 'info', type: 'meta', status: 200, code: '', ms: 1, micro: 5 } as const
    const now = Date.now()
    const batch = (number: number): LogBatch => {
      const times = Array.from({ length: 24 }, (_, i) => now + number * 100 + i)
      const rows = times.map((atMs) => ({ ...call, atMs, requestId: `req_${atMs}` }))
      return { source: 's', number, calls: 48, rows }
    }
    const read = async () => {
      const { chunks, keptMs } = await meterOf(name).requestLog(0, now + HOUR_MS)
      const calls = chunks.flatMap(({ lines }) => callsOf(lines))
      const leftOut = chunks.reduce((sum, chunk) => sum + chunk.leftOut, 0)
      return { count: calls.length, ids: new Set(calls.map(({ requestId }) => requestId)).size, leftOut, keptMs }
    }
    for (let number = 1; number <= 40; number++) {
      await meterOf(name).lease(request({ need: 1, waiting: 1, log: batch(number) }))
      if (number % 4 === 0) await meterOf(name).lease(request({ need: 1, waiting: 1, log: batch(number) }))
      if (number % 13 === 0) await evictDurableObject(stubOf(name))
    }
    await meterOf(name).lease(request({ close: true, log: { source: 's', number: 41, calls: 1, rows: [] } }))
    const all = { count: 960, ids: 960, leftOut: 961, keptMs: 24 * HOUR_MS }
    expect(await read()).toEqual(all)
    const parts = await runInDurableObject(stubOf(name), (_, { storage }) =>
      storage.sql.exec('SELECT count(*) AS count FROM request_log').one(),
    )
    expect(parts.count).toBe(1)
    // Another account has none of it.
    expect((await meterOf('not logged').requestLog(0, now + HOUR_MS)).chunks).toEqual([])
    await runInDurableObject(stubOf(name), async (_, { storage }) => {
      const old = now - 25 * HOUR_MS
      storage.sql.exec('UPDATE request_log SET until = ?', old)
      const { log } = storage.sql.exec<{ log: string }>('SELECT log FROM account').one()
      const head = { ...JSON.parse(log.slice(0, log.indexOf('\n'))), sinceMs: old, untilMs: old }
      storage.sql.exec('UPDATE account SET log = ?', JSON.stringify(head) + log.slice(log.indexOf('\n')))
      await storage.setAlarm(Date.now() + 60_000)
    })
    await evictDurableObject(stubOf(name))
    await runDurableObjectAlarm(stubOf(name))
    expect(await read()).toEqual({ ...all, count: 0, ids: 0, leftOut: 0 })
    const left = await runInDurableObject(stubOf(name), (_, { storage }) =>
      storage.sql.exec('SELECT (SELECT count(*) FROM request_log) AS parts, log FROM account').one(),
    )
    expect([left.parts, String(left.log).includes('req_')]).toEqual([0, false])
  })

  it('returns revoked for every charge and lease of a revoked key, and still accepts its report', async () => {
    const meter = await granted('revoked', 10 * CREDIT)
    await meter.lease(request({ need: CREDIT, waiting: 2 * CREDIT }))
    await meter.revokeKey(K)
    await meter.revokeKey(K)
    expect(await spend(meter, 'k', CREDIT)).toMatchObject({ ok: false, reason: 'revoked' })
    expect(await meter.lease(request({ lease: 'l2', need: 1, waiting: 1 }))).toMatchObject({ reason: 'revoked' })
    expect(await meter.lease(request({ spent: CREDIT, close: true }))).toMatchObject({ reason: 'revoked' })
    expect(await meter.balance()).toMatchObject({ available: 9 * CREDIT, held: 0, spent: CREDIT })
    expect(await spend(meter, 'other', CREDIT)).toMatchObject({ ok: true })
  })

  it('charges minutes that have passed even if their key has ended or has a lower cap since', async () => {
    for (const [what, endKey, spent] of [
      ['revoked', (meter: MeterApi) => meter.revokeKey(K), 10],
      ['expired', (meter: MeterApi) => meter.endKey(K, Date.now() - 1), 10],
      // The minute that has just started is not charged.
      ['lower cap', (meter: MeterApi) => meter.capKey(K, CREDIT), 9],
    ] as const) {
      const meter = await granted(`minutes ${what}`, 100 * CREDIT)
      const minutes = { subscription: 'r/1', keyHash: K, type: 'allFills', amount: CREDIT, body: 'b', leftMs: 60_000 }
      const here = { alive: null, sockets: 1, subscriptions: 1, perMinute: CREDIT, keys: [K], connects: [] }
      const report = { v: 1, relay: 'r', life: 1, ...here, limits: { connections: 9, subscriptions: 9 } }
      await meter.stream({ ...report, charges: [{ ...minutes, ordinal: 0, count: 1 }], ends: [] })
      await endKey(meter)
      const charges = [{ ...minutes, ordinal: 9, count: 9 }]
      const ends = [{ subscription: 'r/1', body: 'b', leftMs: 1 }]
      for (let repeated = 0; repeated < 2; repeated++) await meter.stream({ ...report, charges, ends })
      expect([what, (await meter.balance()).spent]).toEqual([what, spent * CREDIT])
    }
  })

  it('rejects fractional micro-credits without applying any of the batch', async () => {
    const meter = await granted('bugs', CREDIT)
    for (const amount of [-1, 0.5, Number.NaN]) {
      const outcome = await runInDurableObject(stubOf('bugs'), (object) =>
        spend(object as unknown as MeterApi, 'k', amount).catch(String),
      )
      expect(outcome).toContain('non-negative integer')
    }
    expect(await meter.balance()).toMatchObject({ available: CREDIT, spent: 0 })
  })

  it('is drained exactly by two isolates with 64 calls in flight each', async () => {
    const meter = await granted('drain', 500 * CREDIT)
    const identity = identityOf('trial', ['info'], 'drain')
    const background: Promise<unknown>[] = []
    const isolate = () =>
      new LeasePool().charging({
        meterOf,
        waitUntil: (work) => void background.push(work),
        meterFailure: 'closed',
        onRevoked: () => {},
      })
    const pools = [isolate(), isolate()]
    const spend = async () => {
      let served = 0
      const callers = pools.flatMap((pool) =>
        Array.from({ length: 64 }, async () => {
          for (let i = 0; i < 5; i++) {
            const hold = await pool.hold(identity, { product: 'info', type: 'meta', amount: CREDIT })
            if (!hold.ok) continue
            hold.value.settle()
            served++
          }
        }),
      )
      await Promise.all(callers)
      await Promise.all(background.splice(0))
      return served
    }
    // An isolate may hold credits while the other is refused. It returns them when it is idle, so the second round can
    // spend them.
    const served = (await spend()) + (await spend())
    expect(served).toBe(500)
    expect(await meter.balance()).toMatchObject({ available: 0, held: 0, spent: 500 * CREDIT, writtenOff: 0 })
  })
})
