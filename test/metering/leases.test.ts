import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KEY_ENDED } from '../../src/core/failure.ts'
import type { Charging, Hold } from '../../src/metering/charging.ts'
import { REPORT_EVERY_MS, UNREPORTED_MAX } from '../../src/metering/credit-lease.ts'
import type { LeaseMeterApi, LeaseRequest, LeaseResponse } from '../../src/metering/lease-api.ts'
import { LeasePool } from '../../src/metering/leases.client.ts'
import { ManualClock } from '../http/manual-clock.ts'
import { identityOf } from '../kit/identity.ts'
import { ModelMeter } from './model-meter.ts'

const CREDIT = 1_000_000
const identity = identityOf('trial', ['info'])
const price = (credits: number) => ({ product: 'info', type: 'meta', amount: credits * CREDIT }) as const

function isolate(clock: ManualClock, meter: LeaseMeterApi, meterFailure: 'open' | 'closed' = 'closed') {
  const revoked: string[] = []
  const charging = new LeasePool(clock).charging({
    meterOf: () => meter,
    waitUntil: () => {},
    meterFailure,
    onRevoked: (keyHash) => revoked.push(keyHash),
  })
  return { charging, revoked }
}

/** An account with this balance, and an isolate that charges it. */
function account(credits: number) {
  const clock = new ManualClock()
  const meter = new ModelMeter(credits * CREDIT, clock.nowMs)
  return { clock, meter, ...isolate(clock, meter) }
}

async function held(charging: Charging, credits: number): Promise<Hold> {
  const hold = await charging.hold(identity, price(credits))
  if (!hold.ok) throw new Error(hold.error.kind)
  return hold.value
}

/** Runs `count` calls with `inFlight` at a time; returns how many were served. */
async function drain(charging: Charging, count: number, inFlight: number, credits: number, clock?: ManualClock) {
  let started = 0
  let served = 0
  const caller = async () => {
    while (started < count) {
      started++
      const hold = await charging.hold(identity, price(credits))
      await new Promise((resolve) => setImmediate(resolve))
      if (hold.ok) {
        hold.value.settle()
        served++
      } else if (hold.error.kind !== 'credits_exhausted') throw new Error(hold.error.kind)
      if (clock) clock.now += 1
    }
  }
  await Promise.all(Array.from({ length: inFlight }, caller))
  return served
}

describe('draining an account', () => {
  it.each([
    [100, 1, 64],
    [5_000, 1, 64],
    [1_003, 10, 64],
    [7, 1, 1_000],
    [0, 1, 64],
    [130, 0.13, 64],
  ])('%s credits at %s each, %s in flight: exactly the quotient', async (credits, each, inFlight) => {
    const { clock, meter, charging } = account(credits)
    const quotient = Math.floor((credits * CREDIT) / (each * CREDIT))
    expect(await drain(charging, quotient + 900, inFlight, each, clock)).toBe(quotient)
    await clock.advance(3_000)
    meter.checkLaws()
    expect(meter.account).toMatchObject({ spent: quotient * each * CREDIT, held: 0, writtenOff: 0 })
  })

  it('exchanges with the meter for only a few of many calls', async () => {
    const { clock, meter, charging } = account(1_000_000)
    expect(await drain(charging, 20_000, 8, 1, clock)).toBe(20_000)
    expect(meter.exchanges).toBeLessThan(200)
  })

  it('spends the last credit even if three isolates share the balance', async () => {
    const clock = new ManualClock()
    const meter = new ModelMeter(10_000 * CREDIT, clock.nowMs)
    const isolates = [0, 1, 2].map(() => isolate(clock, meter).charging)
    let served = 0
    for (let round = 0; round < 8; round++) {
      const each = await Promise.all(isolates.map((charging) => drain(charging, 1_500, 16, 1, clock)))
      served += each.reduce((sum, count) => sum + count, 0)
      // Idle leases return within two reports.
      await clock.advance(3_000)
      meter.checkLaws()
    }
    expect(served).toBe(10_000)
    expect(meter.account).toMatchObject({ available: 0, held: 0, spent: 10_000 * CREDIT })
  })
})

/** The meter as seen from a place that is so many turns of the event loop away. */
function distant(meter: LeaseMeterApi, turns: number): LeaseMeterApi {
  const travel = async () => {
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    lease: async (request) => {
      await travel()
      const answer = await meter.lease(request)
      await travel()
      return answer
    },
  }
}

describe('eight isolates that share a balance, each of them asked in turn', () => {
  const turns = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 8, maxLength: 8 })
  const prices = fc.constantFrom(0.13, 1, 20)
  /** Micro-credits that pay no call. */
  const rests = fc.nat({ max: 129_999 })

  it('leave no credit to an isolate that nobody asks for it', async () => {
    await fc.assert(
      fc.asyncProperty(turns, prices, fc.nat({ max: 600 }), rests, async (distances, each, calls, rest) => {
        const clock = new ManualClock()
        const meter = new ModelMeter(Math.round(calls * each * CREDIT) + rest, clock.nowMs)
        const isolates = distances.map((turns) => isolate(clock, distant(meter, turns)).charging)
        let next = 0
        let served = 0
        const caller = async () => {
          for (let refused = 0; refused < 3; ) {
            const hold = await isolates[next++ % isolates.length]!.hold(identity, price(each))
            clock.now++
            await new Promise((resolve) => setImmediate(resolve))
            if (hold.ok) {
              hold.value.settle()
              served++
            } else if (hold.error.kind === 'credits_exhausted') refused++
          }
        }
        await Promise.all(Array.from({ length: 64 }, caller))
        expect(served).toBe(calls)
      }),
      { numRuns: 30 },
    )
  })
})

describe('one isolate', () => {
  it('names the cap of an exhausted key', async () => {
    const { meter, charging } = account(100)
    meter.caps.set(identity.keyHash, CREDIT)
    const first = await held(charging, 1)
    first.settle()
    // The second time, the isolate remembers the denial.
    for (let i = 0; i < 2; i++) {
      const refused = await charging.hold(identity, price(1))
      expect(refused).toMatchObject({ ok: false, error: { kind: 'credits_exhausted', capMicro: CREDIT } })
    }
  })

  it('keeps every waiting call alive, not only the one that calls the meter', async () => {
    const clock = new ManualClock()
    const meter = new ModelMeter(10 * CREDIT, clock.nowMs)
    const kept: Promise<unknown>[] = []
    const charging = new LeasePool(clock).charging({
      meterOf: () => meter,
      waitUntil: (work) => void kept.push(work),
      meterFailure: 'closed',
      onRevoked: () => {},
    })
    const waiting = [charging.hold(identity, price(1)), charging.hold(identity, price(1))]
    // Compared by identity: a matcher treats any two promises as equal.
    expect(waiting.every((call) => kept.includes(call as Promise<unknown>))).toBe(true)
    expect(await Promise.all(waiting)).toMatchObject([{ ok: true }, { ok: true }])
  })

  it('charges successful calls and releases failed ones', async () => {
    const { clock, meter, charging } = account(1)
    const first = await held(charging, 1)
    expect(await charging.hold(identity, price(1))).toMatchObject({
      ok: false,
      error: { kind: 'credits_exhausted', neededMicro: CREDIT, remainingMicro: 0 },
    })
    // A free call releases nothing, so no exchange is triggered.
    const free = await held(charging, 0)
    const exchanges = meter.exchanges
    free.release()
    expect((await charging.hold(identity, price(1))).ok).toBe(false)
    expect(meter.exchanges).toBe(exchanges)
    expect(first.release()).toBe(CREDIT)
    const second = await held(charging, 1)
    expect(second.settle()).toBe(0)
    expect(() => second.settle()).toThrow()
    await clock.advance(3_000)
    expect(meter.account).toMatchObject({ spent: CREDIT, held: 0 })
    expect([...meter.usage.values()].flat()).toEqual([{ product: 'info', type: 'meta', calls: 1, amount: CREDIT }])
  })

  it.each([
    // Calls per second, and their price.
    [1, 1],
    [1, 0.13],
    [3, 1],
    [1, 40],
    [50, 1],
  ])('keeps little to itself that it could take along when it dies: %i a second at %s credits', async (rate, each) => {
    const { clock, meter, charging } = account(1e6)
    let spent = 0
    const ages: { readonly spent: number; readonly atMs: number }[] = []
    for (let call = 0; call < 60 * rate; call++) {
      ;(await held(charging, each)).settle()
      spent += each * CREDIT
      ages.push({ spent, atMs: clock.now })
      // In addition to the bound, there is the spending of the two seconds that a check and a report may take.
      expect(spent - meter.account.spent).toBeLessThanOrEqual(UNREPORTED_MAX + 2 * rate * each * CREDIT)
      await clock.advance(1000 / rate)
      while (ages[0] && ages[0].spent <= meter.account.spent) ages.shift()
      expect(clock.now - (ages[0]?.atMs ?? clock.now)).toBeLessThanOrEqual(REPORT_EVERY_MS + 2_000)
    }
    await clock.advance(17_000)
    expect(meter.account).toMatchObject({ spent, held: 0 })
  })

  it('reports large spending within two seconds and returns an idle lease', async () => {
    const { clock, meter, charging } = account(600)
    for (let i = 0; i < 10; i++) (await held(charging, 1)).settle()
    await clock.advance(2_000)
    expect(meter.account.spent).toBe(10 * CREDIT)
    await clock.advance(1_000)
    expect(meter.account.held).toBe(0)
  })

  it('saves a slow caller the round trip while ample credits remain, without blocking others', async () => {
    const { clock, meter: rich, charging } = account(1_000_000)
    const calls = async () => {
      for (let i = 0; i < 100; i++) {
        ;(await held(charging, 1)).settle()
        await clock.advance(1_000)
      }
    }
    await calls()
    // There is one report every ten seconds, and at most a few calls had to wait at the start.
    expect(rich.exchanges).toBeLessThanOrEqual(14)
    await clock.advance(17_000)
    expect(rich.account).toMatchObject({ spent: 100 * CREDIT, held: 0 })
    rich.checkLaws()
  })

  it('counts 64 kinds of calls on one lease, and further kinds on another', async () => {
    const clock = new ManualClock()
    const meter = new ModelMeter(1_000 * CREDIT, clock.nowMs)
    const told: LeaseRequest[] = []
    const heard: LeaseMeterApi = {
      lease: (request) => {
        told.push(request)
        return meter.lease(request)
      },
    }
    const { charging } = isolate(clock, heard)
    for (let kind = 0; kind < 200; kind++) {
      const hold = await charging.hold(identity, { ...price(1), type: `type ${kind}` })
      if (hold.ok) hold.value.settle()
      await clock.advance(100)
    }
    await clock.advance(20_000)
    expect(meter.account).toMatchObject({ spent: 200 * CREDIT, held: 0, writtenOff: 0 })
    expect(Math.max(...told.map(({ usage }) => usage.length))).toBeLessThan(64 + 30)
    const last = new Map(told.map(({ lease, usage }) => [lease, usage.length]))
    expect([...last.values()].reduce((sum, lines) => sum + lines, 0)).toBe(200)
  })

  it('notices a top-up within a second of a refusal', async () => {
    const { clock, meter, charging } = account(0)
    expect((await charging.hold(identity, price(1))).ok).toBe(false)
    const asked = meter.exchanges
    meter.grant(5 * CREDIT)
    clock.now += 999
    expect((await charging.hold(identity, price(1))).ok).toBe(false)
    expect(meter.exchanges).toBe(asked)
    clock.now += 1
    expect((await charging.hold(identity, price(1))).ok).toBe(true)
  })

  it('refuses only calls that are too expensive: a cheaper one is still served', async () => {
    const { charging } = account(5)
    expect((await charging.hold(identity, price(10))).ok).toBe(false)
    expect((await charging.hold(identity, price(5))).ok).toBe(true)
  })

  it('settles late work on its own lease after the meter reclaimed it', async () => {
    const { clock, meter, charging } = account(2)
    const slow = await held(charging, 1)
    clock.now += 61_000
    meter.reclaim()
    expect(meter.account.held).toBe(0)
    slow.settle()
    ;(await held(charging, 1)).settle()
    await clock.advance(5_000)
    meter.checkLaws()
    expect(meter.account).toMatchObject({ available: 0, spent: 2 * CREDIT, writtenOff: 0 })
  })

  it('stops immediately when the meter returns revoked, and still reports spending', async () => {
    const { clock, meter, charging, revoked } = account(1_000)
    for (let i = 0; i < 3; i++) (await held(charging, 1)).settle()
    meter.revoked.add('k')
    await clock.advance(1_000)
    expect(await charging.hold(identity, price(1))).toEqual({ ok: false, error: KEY_ENDED })
    expect(revoked).toContain('k')
    await clock.advance(3_000)
    expect(meter.account).toMatchObject({ spent: 3 * CREDIT, held: 0 })
  })

  it("reports the remaining balance including other isolates' leases, and reports spending on request", async () => {
    const clock = new ManualClock()
    const meter = new ModelMeter(10_000 * CREDIT, clock.nowMs)
    const busy = isolate(clock, meter).charging
    const quiet = isolate(clock, meter).charging
    expect((await held(quiet, 1)).settle()).toBe(9_999 * CREDIT)
    // A busy isolate leases ahead and reports later.
    await drain(busy, 600, 64, 1, clock)
    expect(meter.account.held).toBeGreaterThan(CREDIT)
    const left = (await held(busy, 1)).settle()!
    expect(left).toBe((10_000 - 601) * CREDIT)
    expect(meter.account.available + meter.account.held).toBeGreaterThan(left)
    await busy.report?.(identity)
    expect(meter.account.available + meter.account.held).toBe(left)
    await quiet.report?.(identity)
    expect(meter.account.available + meter.account.held).toBe(left - CREDIT)
    expect((await held(quiet, 1)).settle()).toBe(left - 2 * CREDIT)
    meter.checkLaws()
  })

  it('needs a live lease for a free call too, so that a revoked key gets none', async () => {
    const { clock, meter, charging } = account(0)
    ;(await held(charging, 0)).settle()
    meter.revoked.add('k')
    await clock.advance(31_000)
    expect(await charging.hold(identity, price(0))).toMatchObject({ ok: false, error: { kind: 'key_revoked' } })
  })
})

describe('a revoked key', () => {
  /**
   * Calls at a steady rate until two minutes after the revocation; returns how long after it the last one was served.
   */
  async function lastServedMs(paceMs: number, credits: number, hasReporter: boolean): Promise<number> {
    const { clock, meter, charging } = account(1_000_000)
    // An isolate whose waitUntil was cut short never reports.
    if (!hasReporter) clock.sleep = () => new Promise(() => {})
    const call = async () => {
      const hold = await charging.hold(identity, price(credits))
      if (hold.ok) hold.value.settle()
      return hold.ok
    }
    for (let at = 0; at < 20_000; at += paceMs) {
      expect(await call()).toBe(true)
      await clock.advance(paceMs)
    }
    meter.revoked.add('k')
    const revokedMs = clock.now
    let last = 0
    while (clock.now < revokedMs + 120_000) {
      if (await call()) last = clock.now - revokedMs
      await clock.advance(paceMs)
    }
    return last
  }

  it.each([
    // If the reporter has stopped, the end of the lease applies. Otherwise, the next report or the next exchange for
    // request tokens tells.
    [500, 1, true, 12_000],
    [50, 1, true, 3_000],
    [500, 0, true, 30_000],
    [5_000, 1, true, 30_000],
    [500, 1, false, 30_000],
    [500, 0, false, 30_000],
    [20_000, 1, false, 30_000],
  ])(
    'called every %i ms at %i credits (reporter alive: %s) is served for at most %i ms',
    async (pace, credits, alive, bound) => {
      expect(await lastServedMs(pace, credits, alive)).toBeLessThan(bound)
    },
  )
})

describe('while the meter is unreachable', () => {
  class BrokenMeter implements LeaseMeterApi {
    broken = true
    readonly inner: ModelMeter
    constructor(inner: ModelMeter) {
      this.inner = inner
    }
    async lease(request: LeaseRequest): Promise<LeaseResponse> {
      if (this.broken) throw new Error('Network connection lost.')
      return this.inner.lease(request)
    }
  }

  it('returns 503 when closed, serves when open, and recovers', async () => {
    const clock = new ManualClock()
    const meter = new BrokenMeter(new ModelMeter(10 * CREDIT, clock.nowMs))
    const closed = isolate(clock, meter).charging
    const open = isolate(clock, meter, 'open').charging
    const answers = await Promise.all(Array.from({ length: 64 }, () => closed.hold(identity, price(1))))
    expect(answers.every((answer) => !answer.ok && answer.error.kind === 'unavailable')).toBe(true)
    // The balance is unknown, and nothing is charged.
    expect((await held(open, 1)).settle()).toBeNull()
    meter.broken = false
    clock.now += 250
    expect((await closed.hold(identity, price(1))).ok).toBe(true)
  })

  it('spends leased credits until the lease ends, and then nothing when closed', async () => {
    const clock = new ManualClock()
    const meter = new BrokenMeter(new ModelMeter(1_000_000 * CREDIT, clock.nowMs))
    meter.broken = false
    const closed = isolate(clock, meter).charging
    const open = isolate(clock, meter, 'open').charging
    for (const charging of [closed, open]) {
      for (let i = 0; i < 100; i++) {
        ;(await held(charging, 1)).settle()
        await clock.advance(20)
      }
    }
    meter.broken = true
    const brokenMs = clock.now
    const lastMs = { closed: 0, open: 0 }
    const refusals = new Set<string>()
    while (clock.now < brokenMs + 60_000) {
      for (const [name, charging] of [
        ['closed', closed],
        ['open', open],
      ] as const) {
        const hold = await charging.hold(identity, price(1))
        if (hold.ok) lastMs[name] = clock.now - brokenMs
        if (hold.ok) hold.value.settle()
        else refusals.add(hold.error.kind)
      }
      await clock.advance(2_000)
    }
    expect([...refusals]).toEqual(['unavailable'])
    expect(lastMs.closed).toBeGreaterThan(0)
    expect(lastMs.closed).toBeLessThan(30_000)
    expect(lastMs.open).toBe(58_000)
  })
})
