import { describe, expect, it } from 'vitest'
import type { BudgetRequest, BudgetResponse } from '../../src/upstream/budget-api.ts'
import { LeasedBudget } from '../../src/upstream/leased-budget.ts'
import { WeightBucket } from '../../src/upstream/weight-bucket.ts'

it('forgets vanished callers: nothing is leased for a killed request', async () => {
  let now = 1_000_000
  let ids = 0
  const asked: BudgetRequest[] = []
  let exchange = (): Promise<BudgetResponse> => new Promise(() => {})
  const budget = new LeasedBudget(1_200, 2_000, {
    api: () => ({
      exchange: (ask) => {
        asked.push(ask)
        return exchange()
      },
    }),
    now: () => now,
    // Timers of a killed request never fire.
    sleep: () => new Promise(() => {}),
    after: () => () => {},
    newId: () => `g${ids++}`,
    background: () => {},
  })
  for (let i = 0; i < 5; i++) void budget.take(100, '')
  now += 60_000
  exchange = async () => ({ v: 1, granted: 20, ttlMs: 3_000, waitMs: 0, left: 130 })
  expect((await budget.take(20, '')).paid).toBe(true)
  expect(asked.slice(0, 2).map(({ least, need }) => [least, need])).toEqual([
    [100, 100],
    [20, 20],
  ])
})

const TIMEOUT_MS = 2_000
const LIGHT = 2
/** Far above any budget in this file. */
const LIGHTS_A_STEP = 5
const STEP_MS = 100
const SETTLED_MS = 60_000

/** Isolates over one bucket. An exchange takes one event-loop turn and no time. */
function isolates(perMinute: number, count: number) {
  const bucket = new WeightBucket(null)
  const world = { now: 1_000_000 }
  let ids = 0
  const leases = Array.from(
    { length: count },
    () =>
      new LeasedBudget(perMinute, TIMEOUT_MS, {
        api: () => ({
          exchange: async (ask) => {
            await new Promise(setImmediate)
            return bucket.exchange(ask, world.now)
          },
        }),
        now: () => world.now,
        sleep: () => new Promise(() => {}),
        after: () => () => {},
        newId: () => `g${ids++}`,
        background: () => {},
      }),
  )
  return { world, leases }
}

/** Payment times of requests of each weight, each retried when told. */
async function paidTimes(perMinute: number, sharesIsolate: boolean, heavy: readonly number[], forMs = SETTLED_MS) {
  const { world, leases } = isolates(perMinute, 1 + heavy.length)
  const paid = new Map<number, number[]>([LIGHT, ...heavy].map((weight) => [weight, []]))
  const nextMs = heavy.map(() => world.now)
  const startMs = world.now
  const ask = async (isolate: number, weight: number) => {
    const payment = await leases[isolate]!.take(weight, '')
    if (!payment.paid) return payment.waitMs
    payment.settle(weight)
    paid.get(weight)!.push(world.now - startMs)
    return 0
  }
  for (; world.now - startMs < forMs; world.now += STEP_MS) {
    const heavyTurns = heavy.map(async (weight, i) => {
      if (world.now < nextMs[i]!) return
      nextMs[i] = world.now + (await ask(sharesIsolate ? 0 : i + 1, weight))
    })
    const turns = Array.from({ length: LIGHTS_A_STEP }, () => ask(0, LIGHT))
    await Promise.all([...turns, ...heavyTurns])
  }
  return paid
}

const longestWait = (times: readonly number[]) =>
  Math.max(...[0, ...times, SETTLED_MS].map((atMs, i, all) => (i === 0 ? 0 : atMs - all[i - 1]!)))

describe.each([true, false])('a budget of 1,200 per minute, in one isolate: %s', (sharesIsolate) => {
  it.each([[[60]], [[120]], [[60, 120]], [[20, 60, 120]]])('serves %j beside light requests', async (heavy) => {
    const paid = await paidTimes(1_200, sharesIsolate, heavy)
    // Half of the inflow, 15.6 per second, is saved for them, one after the other.
    const sum = heavy.reduce((all, weight) => all + weight, 0)
    const boundMs = (2 * sum * 1_000) / (15.6 / 2)
    for (const weight of heavy) {
      expect(longestWait(paid.get(weight)!), `the longest wait of ${weight}`).toBeLessThan(boundMs)
    }
    expect(paid.get(LIGHT)!.length * LIGHT).toBeGreaterThan((SETTLED_MS / 1_000) * 5)
  })
})

it('does not delay others for long if a refused request never returns', async () => {
  const bucket = new WeightBucket(null)
  const ask = (weight: number) => {
    const more = { weight, least: weight, need: weight, forecast: 0, news: [], owed: 0 }
    return { v: 1, grant: `g${ids++}`, perMinute: 1_200, spreadMs: 5_000, ...more }
  }
  let now = 1_000_000
  let ids = 0
  const windows: number[] = []
  for (let step = 0; step < 1_200; step++, now += STEP_MS) {
    const window = Math.floor(step / 100)
    windows[window] ??= 0
    while (bucket.exchange(ask(LIGHT), now).granted > 0) windows[window] += LIGHT
    // Just after the bucket was emptied, so that they are refused.
    if (step % 100 === 0) for (const weight of [120, 60, 20]) expect(bucket.exchange(ask(weight), now).granted).toBe(0)
  }
  // Ten seconds add 156, half of which is saved and returned.
  expect(Math.min(...windows)).toBeGreaterThan(60)
})

it('the smallest budget has room for the heaviest request', async () => {
  const paid = await paidTimes(240, false, [120], 300_000)
  expect(paid.get(120)!.length).toBeGreaterThan(0)
})

it('serves accounts fairly, however much one of them requests', async () => {
  const { world, leases } = isolates(1_200, 1)
  const [lease] = leases
  const paid = { many: 0, one: 0 }
  const nextMs = { many: world.now, one: world.now }
  const ask = async (caller: 'many' | 'one') => {
    const payment = await lease!.take(20, caller)
    if (!payment.paid) {
      nextMs[caller] = world.now + payment.waitMs
      return
    }
    payment.settle(20)
    paid[caller]++
  }
  for (const endMs = world.now + SETTLED_MS; world.now < endMs; world.now += STEP_MS) {
    const many = world.now < nextMs.many ? 0 : 20
    const one = world.now < nextMs.one ? 0 : 1
    await Promise.all([
      ...Array.from({ length: many }, () => ask('many')),
      ...Array.from({ length: one }, () => ask('one')),
    ])
  }
  expect(paid.many + paid.one).toBeGreaterThan(50)
  expect(paid.one).toBeGreaterThan(20)
})
