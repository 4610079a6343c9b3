// Invariant of a source's budget over its pure halves, the bucket and the isolates' leases: with late and lost
// messages, restarts, timeouts, and responses that cost less than reserved.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BudgetRequest, BudgetResponse } from '../../src/upstream/budget-api.ts'
import { WeightLease, type WeightReservation } from '../../src/upstream/leased-budget.ts'
import { BUDGET_MIN, burst, refillPerMs, WEIGHT_TTL_MS, WeightBucket } from '../../src/upstream/weight-bucket.ts'

const MINUTE_MS = 60_000
const EXCHANGE_TIMEOUT_MS = 1_000
const TIMEOUT_MS = 2_000

interface Step {
  readonly waitMs: number
  readonly isolate: number
  readonly weight: number
  /** Real weight of the response in hundredths of the reservation; null: no response. */
  readonly realPercent: number | null
  /** Until the request arrives at the source, in hundredths of its timeout. */
  readonly arrivalPercent: number
  /** Until the bucket has the message, and until the isolate has the response. */
  readonly delaysMs: readonly [number, number]
  readonly lost: 'none' | 'ask' | 'answer'
  readonly what: 'request' | 'giveBack' | 'restart'
}

/** A world with events in time order. */
class Simulation {
  readonly arrivals: { readonly atMs: number; readonly weight: number }[] = []
  now = 1_000_000
  #bucket = new WeightBucket(null)
  readonly #isolates: { readonly purse: WeightLease; flying: boolean }[]
  #events: { readonly atMs: number; readonly run: () => void }[] = []
  #ids = 0

  constructor(perMinute: number, isolates: number) {
    this.#isolates = Array.from({ length: isolates }, () => ({
      purse: new WeightLease(perMinute, WEIGHT_TTL_MS + TIMEOUT_MS),
      flying: false,
    }))
  }

  run(steps: readonly Step[]): void {
    for (const step of steps) {
      this.#advance(this.now + step.waitMs)
      this.#step(step)
    }
    this.#advance(this.now + 10_000)
  }

  /** The heaviest minute seen by the source. */
  heaviestMinute(): number {
    const arrivals = this.arrivals.toSorted((a, b) => a.atMs - b.atMs)
    let heaviest = 0
    let sum = 0
    for (let from = 0, to = 0; to < arrivals.length; to++) {
      sum += arrivals[to]!.weight
      while (arrivals[to]!.atMs - arrivals[from]!.atMs > MINUTE_MS) sum -= arrivals[from++]!.weight
      heaviest = Math.max(heaviest, sum)
    }
    return heaviest
  }

  #step(step: Step): void {
    if (step.what === 'restart') {
      this.#bucket = new WeightBucket(this.#bucket.stored)
      return
    }
    const isolate = this.#isolates[step.isolate % this.#isolates.length]!
    const { purse } = isolate
    if (step.what === 'giveBack') {
      const ask = isolate.flying ? null : purse.giveBack(this.#id(), this.now)
      if (ask !== null) this.#exchange(isolate, ask, step)
      return
    }
    const spending = purse.take(step.weight, this.now)
    if (spending !== null) return this.#send(purse, spending, step)
    if (isolate.flying || purse.refusedMs(step.weight, this.now) > 0) return
    this.#exchange(isolate, purse.request(this.#id(), step.weight, step.weight * 3, this.now), step, () => {
      const granted = purse.take(step.weight, this.now)
      if (granted !== null) this.#send(purse, granted, step)
    })
  }

  #exchange(
    isolate: { readonly purse: WeightLease; flying: boolean },
    ask: BudgetRequest,
    { delaysMs: [there, back], lost }: Step,
    then = () => {},
  ): void {
    const sentAtMs = this.now
    isolate.flying = true
    let answer: BudgetResponse | null = null
    if (lost !== 'ask')
      this.#at(sentAtMs + there, () => {
        answer = this.#bucket.exchange(ask, this.now)
      })
    const late = lost !== 'none' || there + back > EXCHANGE_TIMEOUT_MS
    this.#at(sentAtMs + (late ? EXCHANGE_TIMEOUT_MS : there + back), () => {
      isolate.flying = false
      if (late || answer === null) return isolate.purse.onNoResponse(ask)
      isolate.purse.applyResponse(ask, answer, sentAtMs, this.now)
      then()
    })
  }

  #send(purse: WeightLease, spending: WeightReservation, { weight, realPercent, arrivalPercent }: Step): void {
    const real = realPercent === null ? weight : Math.ceil((weight * realPercent) / 100)
    const arrivesMs = this.now + Math.floor((TIMEOUT_MS * arrivalPercent) / 100)
    this.#at(arrivesMs, () => {
      this.arrivals.push({ atMs: this.now, weight: real })
      if (realPercent !== null) purse.settle(spending, real)
    })
  }

  #at(atMs: number, run: () => void): void {
    this.#events.push({ atMs, run })
  }

  #advance(toMs: number): void {
    for (;;) {
      const due = this.#events.filter(({ atMs }) => atMs <= toMs)
      if (due.length === 0) break
      const next = due.reduce((first, each) => (each.atMs < first.atMs ? each : first))
      this.#events = this.#events.filter((event) => event !== next)
      this.now = next.atMs
      next.run()
    }
    this.now = toMs
  }

  #id(): string {
    return `g${this.#ids++}`
  }
}

const step = fc.record<Step>({
  waitMs: fc.oneof({ weight: 8, arbitrary: fc.nat(300) }, { weight: 1, arbitrary: fc.nat(20_000) }),
  isolate: fc.nat(3),
  weight: fc.constantFrom(2, 2, 20, 20, 60, 120),
  realPercent: fc.option(fc.integer({ min: 1, max: 100 }), { freq: 5, nil: null }),
  arrivalPercent: fc.oneof(fc.nat(5), fc.nat(100)),
  delaysMs: fc.tuple(fc.oneof(fc.nat(20), fc.nat(2_500)), fc.nat(200)),
  lost: fc.constantFrom('none', 'none', 'none', 'none', 'ask', 'answer'),
  what: fc.constantFrom('request', 'request', 'request', 'request', 'giveBack', 'restart'),
})

describe('the budget of a source', () => {
  it('is never exceeded in any minute, whatever is late, lost or restarted', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: BUDGET_MIN, max: 3_000 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { minLength: 50, maxLength: 400 }),
        (perMinute, isolates, steps) => {
          const simulation = new Simulation(perMinute, isolates)
          simulation.run(steps)
          expect(simulation.heaviestMinute()).toBeLessThanOrEqual(perMinute)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('is not exceeded at ten times its load, and is mostly used', () => {
    const perMinute = 1_200
    const simulation = new Simulation(perMinute, 2)
    const base = { lost: 'none', delaysMs: [2, 2], arrivalPercent: 1, what: 'request' } as const
    // Every 100 ms one request of 20 by either of two isolates: 12,000 per minute, for five minutes.
    const steps = Array.from({ length: 3_000 }, (_, i): Step[] => [
      { ...base, waitMs: 100, isolate: i, weight: 20, realPercent: 100 },
      ...(i % 10 === 0
        ? [{ ...base, waitMs: 0, isolate: i, weight: 0, realPercent: null, what: 'giveBack' } as const]
        : []),
    ]).flat()
    simulation.run(steps)
    const total = simulation.arrivals.reduce((sum, { weight }) => sum + weight, 0)
    expect(simulation.heaviestMinute()).toBeLessThanOrEqual(perMinute)
    expect(total).toBeGreaterThan(perMinute * 5 * 0.7)
  })

  it('is used for small responses: weight reserved for their rows is returned', () => {
    const perMinute = 1_200
    const simulation = new Simulation(perMinute, 1)
    const base = { isolate: 0, lost: 'none', delaysMs: [2, 2], arrivalPercent: 1 } as const
    // userFills reserves 120 and costs 21: at most 57 of them fit a minute; without returns it would be ten.
    const steps = Array.from({ length: 3_000 }, (_, i): Step[] => [
      { ...base, waitMs: 100, weight: 120, realPercent: 17.5, what: 'request' },
      ...(i % 10 === 0 ? [{ ...base, waitMs: 0, weight: 0, realPercent: null, what: 'giveBack' } as const] : []),
    ]).flat()
    simulation.run(steps)
    expect(simulation.heaviestMinute()).toBeLessThanOrEqual(perMinute)
    expect(simulation.arrivals.length).toBeGreaterThan(5 * 20)
  })
})

describe('a bucket', () => {
  const ask = (more: Partial<BudgetRequest>): BudgetRequest => ({
    v: 1,
    grant: 'g',
    perMinute: 1_200,
    spreadMs: 5_000,
    weight: more.least ?? 0,
    least: 0,
    need: 0,
    forecast: 0,
    news: [],
    owed: 0,
    ...more,
  })

  it('has room for the heaviest request, and burst plus refill equals the budget', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: BUDGET_MIN, max: 1_000_000 }),
        fc.integer({ min: 3_000, max: 13_000 }),
        (b, spread) => {
          expect(burst(b)).toBeGreaterThanOrEqual(120)
          expect(refillPerMs(b, spread)).toBeGreaterThan(0)
          expect(burst(b) * 1e6 + refillPerMs(b, spread) * (MINUTE_MS + spread)).toBeLessThanOrEqual(b * 1e6)
        },
      ),
    )
  })

  it('grants at most burst plus refill less returns in any span of time', () => {
    const move = fc.record({
      waitMs: fc.oneof(fc.nat(10), fc.nat(4_000)),
      need: fc.oneof(fc.nat(20), fc.nat(200)),
      /** Which earlier grant is returned, counted from the newest, and how much of it is returned or spent. */
      back: fc.nat(3),
      backWeight: fc.oneof(fc.constant(0), fc.nat(200)),
      usedWeight: fc.oneof(fc.constant(0), fc.nat(200)),
      restart: fc.integer({ min: 0, max: 30 }),
    })
    const spreadMs = 5_000
    fc.assert(
      fc.property(
        fc.integer({ min: BUDGET_MIN, max: 20_000 }),
        fc.array(move, { minLength: 10, maxLength: 80 }),
        (perMinute, moves) => {
          let bucket = new WeightBucket(null)
          let now = 0
          const given: { atMs: number; weight: number; used: number }[] = []
          for (const { waitMs, need, back, backWeight, usedWeight, restart } of moves) {
            now += waitMs
            if (restart === 0) bucket = new WeightBucket(bucket.stored)
            const grant = given.at(-1 - back)
            const held = grant !== undefined && now < grant.atMs + WEIGHT_TTL_MS ? grant.weight - grant.used : 0
            const returned = Math.min(held, backWeight)
            const used = Math.min(held - returned, usedWeight)
            // Returned weight is no longer used, whether or not the bucket still knows the grant.
            if (grant !== undefined) {
              grant.weight -= returned
              grant.used += used
            }
            const news = held > 0 ? [{ grant: `g${given.indexOf(grant!)}`, returned, used }] : []
            const terms = { perMinute, spreadMs, grant: `g${given.length}` }
            const { granted } = bucket.exchange(ask({ ...terms, least: Math.min(1, need), need, news }), now)
            given.push({ atMs: now, weight: granted, used: 0 })
          }
          for (let from = 0; from < given.length; from++) {
            let sum = 0
            for (const { atMs, weight } of given.slice(from)) {
              sum += weight
              const most = burst(perMinute) * 1e6 + refillPerMs(perMinute, spreadMs) * (atMs - given[from]!.atMs)
              expect(sum * 1e6).toBeLessThanOrEqual(most)
            }
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('reports when the minimum is available, to the millisecond', () => {
    const bucket = new WeightBucket(null)
    expect(bucket.exchange(ask({ least: 20, need: 500 }), 0)).toMatchObject({ granted: 150, waitMs: 0, left: 0 })
    const refused = bucket.exchange(ask({ grant: 'h', least: 20, need: 20 }), 5_000)
    expect(refused).toMatchObject({ granted: 20, waitMs: 0 })
    const { waitMs } = bucket.exchange(ask({ least: 100, need: 100 }), 5_000)
    expect(bucket.exchange(ask({ grant: 'i', least: 100 }), 5_000 + waitMs - 1).granted).toBe(0)
    expect(bucket.exchange(ask({ grant: 'i', least: 100, need: 100 }), 5_000 + waitMs).granted).toBe(100)
  })

  it('accepts a return once, in time, and at most the grant', () => {
    const bucket = new WeightBucket(null)
    bucket.exchange(ask({ grant: 'a', least: 20, need: 100 }), 0)
    bucket.exchange(ask({ grant: 'other', least: 20, need: 50 }), 0)
    const back = (grant: string, weight: number, nowMs: number) =>
      bucket.exchange(ask({ news: [{ grant, returned: weight, used: 0 }] }), nowMs).left
    expect(back('unknown', 50, 0)).toBe(0)
    expect(back('a', 50, 0)).toBe(50)
    expect(back('a', 1_000, 0)).toBe(100)
    expect(back('a', 1_000, 0)).toBe(100)
    bucket.exchange(ask({ grant: 'c', least: 100, need: 100 }), 0)
    // Four seconds add 64; the grant has ended.
    expect(back('other', 50, WEIGHT_TTL_MS + 1_000)).toBe(64)
  })

  it('subtracts owed weight and refills', () => {
    const bucket = new WeightBucket(null)
    expect(bucket.exchange(ask({ owed: 1_000 }), 0).left).toBe(0)
    expect(bucket.exchange(ask({ least: 2, need: 2 }), 1_000).granted).toBe(0)
    expect(bucket.exchange(ask({ least: 2, need: 2 }), 3_600_000).granted).toBe(2)
  })

  it('adds nothing when the clock steps back', () => {
    const bucket = new WeightBucket(null)
    bucket.exchange(ask({ least: 20, need: 150 }), 100_000)
    expect(bucket.exchange(ask({ least: 2, need: 2 }), 40_000).granted).toBe(0)
    expect(bucket.exchange(ask({ least: 2, need: 2 }), 99_000).granted).toBe(0)
  })

  it('continues from a clock that was set back permanently, and accepts no returns of earlier grants', () => {
    const hour = 3_600_000
    const bucket = new WeightBucket(null)
    expect(bucket.exchange(ask({ grant: 'before', least: 20, need: 150 }), 2 * hour).granted).toBe(150)
    expect(bucket.exchange(ask({ least: 2, need: 2 }), hour).granted).toBe(0)
    const news = [{ grant: 'before', returned: 150, used: 0 }]
    expect(bucket.exchange(ask({ news }), hour).left).toBe(0)
    expect(bucket.exchange(ask({ grant: 'after', least: 2, need: 100 }), hour + 1_000).granted).toBe(16)
  })
})
