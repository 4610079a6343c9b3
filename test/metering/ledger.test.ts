import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import { CreditLease, type IsolateLease, type LeaseExchange } from '../../src/metering/credit-lease.ts'
import type { LeaseRequest } from '../../src/metering/lease-api.ts'
import { grantSize, LEASE_TTL_MS, RECLAIM_GRACE_MS } from '../../src/metering/ledger.ts'
import { PLANS } from '../../src/metering/plans/plan.ts'
import { ModelMeter } from './model-meter.ts'

/** Minimum operations of both invariants; `npm run laws -- 10000000` runs more. */
const OPERATIONS = Number(process.env.LEDGER_OPERATIONS ?? 200_000)
const EACH = Math.ceil(OPERATIONS / 2)
/** Sixteen times their duration on two idle cores, where a millisecond covers thirty operations. */
const TIMEOUT_MS = 10_000 + EACH / 2
/** Minimum length of a sequence, so that the number of runs implies a minimum number of operations. */
const COMMANDS_MIN = 40
const STEPS_MIN = 80

const amount = fc.integer({ min: 0, max: 3_000_000 })
const KEYS = fc.constantFrom(keyHashOf('k1'), keyHashOf('k2'))

describe('the ledger under any sequence of commands, valid or not', () => {
  const request: fc.Arbitrary<LeaseRequest> = fc.record({
    v: fc.constant(1),
    lease: fc.constantFrom('a', 'b', 'c'),
    keyHash: KEYS,
    spent: amount,
    usage: fc.constant([]),
    need: amount,
    waiting: amount,
    forecast: amount,
    close: fc.boolean(),
  })
  const command = fc.oneof(
    request.map((lease) => ({ do: 'lease' as const, lease })),
    amount.map((micro) => ({ do: 'grant' as const, micro })),
    fc.record({
      do: fc.constant('charge' as const),
      id: fc.constantFrom('1', '2', '3', '4'),
      key: KEYS,
      micro: amount,
    }),
    fc.record({
      do: fc.constant('pipeline' as const),
      id: fc.constantFrom('p1', 'p2'),
      key: KEYS,
      micro: amount,
    }),
    fc.integer({ min: 0, max: 70_000 }).map((ms) => ({ do: 'wait' as const, ms })),
    KEYS.map((key) => ({ do: 'revoke' as const, key })),
    fc.constantFrom(...(Object.keys(PLANS) as (keyof typeof PLANS)[])).map((plan) => ({ do: 'plan' as const, plan })),
    fc.integer({ min: 0, max: 40 }).map((days) => ({ do: 'wait' as const, ms: days * 86_400_000 })),
  )

  it(
    `keeps its invariants in at least ${EACH.toLocaleString('en')} operations`,
    () => {
      let operations = 0
      fc.assert(
        fc.property(fc.array(command, { minLength: COMMANDS_MIN, maxLength: 60 }), (commands) => {
          let now = 0
          const meter = new ModelMeter(5_000_000, () => now)
          const taken = new Map<string, number>()
          for (const each of commands) {
            operations++
            if (each.do === 'lease') meter.decide(each.lease)
            if (each.do === 'grant') meter.grant(each.micro)
            if (each.do === 'charge' && meter.charge(each.id, each.micro, each.key) === 'ok') {
              taken.set(each.id, (taken.get(each.id) ?? 0) + 1)
            }
            if (each.do === 'pipeline') meter.settlePipeline(each.id, each.micro, each.key)
            if (each.do === 'wait') now += each.ms
            if (each.do === 'revoke') meter.revoked.add(each.key)
            if (each.do === 'plan') meter.plan(each.plan)
            meter.renew()
            meter.checkLaws()
            meter.reclaim()
            meter.checkLaws()
          }
          expect([...taken.values()].every((times) => times === 1)).toBe(true)
        }),
        { numRuns: Math.ceil(EACH / COMMANDS_MIN) },
      )
      console.log(`the ledger's laws held in ${operations.toLocaleString('en')} operations`)
      expect(operations).toBeGreaterThanOrEqual(EACH)
    },
    TIMEOUT_MS,
  )

  it("limits a capped key's spending plus leases to its cap, however late its leases report", () => {
    const report = request.map((lease) => ({ ...lease, keyHash: keyHashOf('k'), close: false }))
    const own = fc.oneof({ arbitrary: report, weight: 4 }, { arbitrary: amount, weight: 1 })
    fc.assert(
      fc.property(fc.array(own, { minLength: 10, maxLength: 20 }), amount, (steps, cap) => {
        let now = 0
        const meter = new ModelMeter(20_000_000, () => now)
        meter.caps.set('k', cap)
        for (const each of steps) {
          if (typeof each === 'object') meter.decide(each)
          else {
            now += LEASE_TTL_MS + RECLAIM_GRACE_MS
            meter.reclaim()
            meter.charge(String(now), each, 'k')
          }
          meter.checkLaws()
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('is unchanged by a repeated report', () => {
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 10 }), (requests) => {
        const meter = new ModelMeter(5_000_000, () => 0)
        for (const each of requests) {
          meter.decide(each)
          const { spent, writtenOff } = meter.account
          meter.decide({ ...each, need: 0, waiting: 0, forecast: 0 })
          expect(meter.account.spent + meter.account.writtenOff).toBe(spent + writtenOff)
        }
      }),
    )
  })
})

describe('many isolates over an unreliable network', () => {
  const step = fc.record({
    isolate: fc.integer({ min: 0, max: 3 }),
    do: fc.constantFrom(
      'call',
      'call',
      'call',
      'finish',
      'finish',
      'fail',
      'report',
      'wait',
      'long wait',
      'crash',
      'charge',
    ),
    network: fc.constantFrom('good', 'good', 'good', 'request lost', 'answer lost', 'answer twice'),
    price: fc.constantFrom(0, 1, 130_000, 1_000_000, 10_000_000),
  })

  it(
    `charges what was served, to the millionth, except for losses in a crash, in at least ${EACH.toLocaleString('en')} operations`,
    () => {
      let operations = 0
      fc.assert(
        fc.property(
          fc.array(step, { minLength: STEPS_MIN, maxLength: 160 }),
          fc.integer({ min: 0, max: 60_000_000 }),
          (steps, credits) => {
            const world = new World(credits)
            for (const each of steps) world.step(each)
            operations += steps.length
            world.settleAll()
            const { spent, writtenOff, held } = world.meter.account
            expect(held).toBe(0)
            expect(spent + writtenOff).toBe(world.served + world.direct)
          },
        ),
        { numRuns: Math.ceil(EACH / STEPS_MIN) },
      )
      console.log(`leases were exact in ${operations.toLocaleString('en')} operations`)
      expect(operations).toBeGreaterThanOrEqual(EACH)
    },
    TIMEOUT_MS,
  )
})

type Account = Parameters<typeof grantSize>[0]

const accountOf = (available: number, more = {}) => ({ available, spent: 1_000, writtenOff: 0, ...more }) as Account
const size = (of: Account, need: number, waiting: number, forecast: number) =>
  grantSize(of, { need, waiting, forecast })

describe('the size of a grant', () => {
  it('is null if the current call cannot be paid, and 0 if it is free', () => {
    expect([size(accountOf(9), 10, 10, 0), size(accountOf(10), 10, 10, 0), size(accountOf(9), 0, 5, 5)]).toEqual([
      null,
      10,
      0,
    ])
  })

  it('is the forecast, up to a sixteenth of the balance, and at least the waiting calls', () => {
    expect(size(accountOf(1_600), 10, 10, 70)).toBe(70)
    expect(size(accountOf(1_607), 10, 10, 500)).toBe(100)
    expect(size(accountOf(1_600), 10, 300, 500)).toBe(300)
    expect(size(accountOf(1_600), 10, 9_999, 0)).toBe(1_600)
    expect(size(accountOf(1_600), 10, 3, 0)).toBe(10)
  })

  it('pays whole calls', () => {
    expect(size(accountOf(1_600), 10, 10, 77)).toBe(70)
    expect(size(accountOf(1_679), 10, 10, 500)).toBe(100)
    expect(size(accountOf(1_600), 10, 10, 9)).toBe(10)
  })

  it('is the whole forecast or nothing if no call waits', () => {
    expect([size(accountOf(640), 0, 0, 10), size(accountOf(639), 0, 0, 10)]).toEqual([10, 0])
  })

  it('is only the waiting calls below 64 calls', () => {
    expect(size(accountOf(639), 10, 20, 500)).toBe(20)
    expect(size(accountOf(640), 10, 20, 500)).toBe(40)
  })

  it('is only the waiting calls if more than one percent of spending was written off', () => {
    expect(size(accountOf(1_600, { writtenOff: 10 }), 10, 20, 500)).toBe(100)
    expect(size(accountOf(1_600, { writtenOff: 11 }), 10, 20, 500)).toBe(20)
  })
})

/** Four isolates with one key, a meter and a clock. Every call is a price that is held, then settled or released. */
class World {
  now = 1_000_000
  ids = 0
  /** Spending settled by isolates that is reported or will be reported by an isolate that still runs. */
  served = 0
  direct = 0
  readonly meter: ModelMeter
  readonly isolates: {
    holder: CreditLease
    calls: { lease: IsolateLease; price: number }[]
    unreported: Map<IsolateLease, number>
  }[]

  constructor(credits: number) {
    this.meter = new ModelMeter(credits, () => this.now)
    this.isolates = [0, 1, 2, 3].map(() => this.#newIsolate())
  }

  step({ isolate, do: action, network, price }: { isolate: number; do: string; network: string; price: number }): void {
    const place = this.isolates[isolate]
    if (place === undefined) throw new Error('unknown isolate')
    const call = action === 'finish' || action === 'fail' ? place.calls.shift() : undefined
    if (action === 'wait') this.now += 700
    if (action === 'long wait') this.now += LEASE_TTL_MS + RECLAIM_GRACE_MS
    if (action === 'charge' && this.meter.charge(String(this.ids++), price) === 'ok') this.direct += price
    if (action === 'call') this.#call(place, price, network)
    if (action === 'finish' && call) {
      place.holder.settle(call.lease, call.price, 'info', 'x')
      this.served += call.price
      place.unreported.set(call.lease, (place.unreported.get(call.lease) ?? 0) + call.price)
    }
    if (action === 'fail' && call) place.holder.release(call.lease, call.price)
    if (action === 'report') for (const asked of place.holder.due(this.now)) this.#exchange(place, asked, network)
    if (action === 'crash') {
      for (const lost of place.unreported.values()) this.served -= lost
      this.isolates[isolate] = this.#newIsolate()
    }
    this.meter.reclaim()
    this.meter.checkLaws()
  }

  settleAll(): void {
    for (const place of this.isolates) {
      for (const call of place.calls) place.holder.release(call.lease, call.price)
      this.now += 16_000
      for (let i = 0; i < 3; i++) for (const asked of place.holder.due(this.now)) this.#exchange(place, asked, 'good')
      expect(place.holder.isBusy).toBe(false)
    }
    this.now += LEASE_TTL_MS + RECLAIM_GRACE_MS
    this.meter.reclaim()
    this.meter.checkLaws()
  }

  #newIsolate() {
    return { holder: new CreditLease(keyHashOf('k')), calls: [], unreported: new Map() }
  }

  #call(place: World['isolates'][number], price: number, network: string): void {
    for (let turn = 0; turn < 3; turn++) {
      const taken = place.holder.take(price, this.now)
      if (taken.do === 'go') {
        const { lease } = taken
        place.calls.push({ lease, price })
        if (lease.spent + lease.reserved > lease.granted) throw new Error('an isolate spent more than its grants')
        return
      }
      if (taken.do !== 'ask') return
      const asked = place.holder.request(price, price, this.now, () => `lease ${this.ids++}`)
      this.#exchange(place, asked, network)
    }
  }

  #exchange(place: World['isolates'][number], asked: LeaseExchange, network: string): void {
    if (network === 'request lost') return
    const told = place.unreported.get(asked.lease) ?? 0
    const answer = this.meter.decide(structuredClone(asked.request))
    // The meter knows this spending now, whatever happens to the response.
    if (told > 0) place.unreported.set(asked.lease, 0)
    if (network === 'answer lost') return
    place.holder.applyResponse(asked, answer)
    if (network === 'answer twice') place.holder.applyResponse(asked, answer)
  }
}
