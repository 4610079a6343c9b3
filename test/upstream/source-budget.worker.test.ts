// The budget object in workerd: two isolates on one bucket, and its state after a restart.

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { after, sleep } from '../../src/core/timers.client.ts'
import type { BudgetRequest, SourceBudgetApi } from '../../src/upstream/budget-api.ts'
import { LeasedBudget } from '../../src/upstream/leased-budget.ts'

const namespace = (env as unknown as Cloudflare.Env).SOURCE_BUDGET
const apiOf = (name: string) => namespace.getByName(name) as unknown as SourceBudgetApi
const BUDGET = 1_200
/** Capacity of a full bucket of that budget, and its refill per second. */
const BURST = 150
const PER_SECOND = 17

const ask = (more: Partial<BudgetRequest>): BudgetRequest => ({
  v: 1,
  grant: crypto.randomUUID(),
  perMinute: BUDGET,
  spreadMs: 5_000,
  weight: 20,
  least: 20,
  need: 20,
  forecast: 0,
  news: [],
  owed: 0,
  ...more,
})

function isolate(api: () => SourceBudgetApi) {
  return new LeasedBudget(BUDGET, 2_000, {
    api,
    now: () => Date.now(),
    // Ten times the timeout of a real isolate: a busy machine is not an unreachable budget.
    sleep: (ms) => sleep(10 * ms),
    after: (ms, run) => after(10 * ms, run),
    newId: () => crypto.randomUUID(),
    background: (work) => void work.catch(() => {}),
  })
}

describe('SourceBudget', () => {
  it('grants two isolates at most one bucket, and each its need', async () => {
    // The object is awake before time counts.
    await apiOf('shared').exchange(ask({ least: 0, need: 0 }))
    const isolates = [isolate(() => apiOf('shared')), isolate(() => apiOf('shared'))]
    const startMs = Date.now()
    const payments = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        isolates[i % 2]!.take(i % 3 === 0 ? 20 : 2, '').then((p) => [i, p] as const),
      ),
    )
    const elapsedS = Math.ceil((Date.now() - startMs) / 1_000)
    const paid = payments.filter(([, payment]) => payment.paid)
    const weight = paid.reduce((sum, [i]) => sum + (i % 3 === 0 ? 20 : 2), 0)
    expect(weight).toBeLessThanOrEqual(BURST + PER_SECOND * elapsedS)
    expect(weight).toBeGreaterThan(BURST / 2)
    expect(new Set(paid.map(([i]) => i % 2))).toEqual(new Set([0, 1]))
    for (const [, payment] of payments) if (!payment.paid) expect(payment.waitMs).toBeGreaterThan(0)
  })

  it('remembers grants across a restart', async () => {
    const startMs = Date.now()
    expect((await apiOf('restart').exchange(ask({ need: 140 }))).granted).toBe(140)
    await evictDurableObject(namespace.getByName('restart'))
    const { granted, left } = await apiOf('restart').exchange(ask({ least: 1, need: 1_000 }))
    expect(granted + left).toBeLessThanOrEqual(10 + PER_SECOND * Math.ceil((Date.now() - startMs) / 1_000))
  })

  it('rejects fractional weights', async () => {
    // Inside the object: a rejection that crosses to the test would count as unhandled there, too.
    await runInDurableObject(namespace.getByName('wrong'), async (object) => {
      const budget = object as unknown as SourceBudgetApi
      for (const wrong of [-1, 0.5, Number.NaN]) {
        await expect(budget.exchange(ask({ need: wrong }))).rejects.toThrow('non-negative integer')
        await expect(budget.exchange(ask({ news: [{ grant: 'g', returned: wrong, used: 0 }] }))).rejects.toThrow(
          'non-negative integer',
        )
      }
    })
    expect((await apiOf('wrong').exchange(ask({}))).left).toBe(BURST - 20)
  })

  it('blocks requests while it is unreachable, and recovers', async () => {
    let away = true
    const alone = isolate(() => {
      if (away) throw new Error('away')
      return apiOf('away')
    })
    const refused = await alone.take(20, '')
    expect(refused.paid).toBe(false)
    away = false
    await expect.poll(async () => (await alone.take(20, '')).paid, { timeout: 10_000, interval: 50 }).toBe(true)
  })
})
