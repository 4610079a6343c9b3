import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AccountState, EMPTY_ACCOUNT } from '../../../src/metering/account-state.ts'
import { decideCharge, decideGrant, evolveAccount } from '../../../src/metering/ledger.ts'
import { daysAfter, renewalAfter } from '../../../src/metering/plans/calendar.ts'
import { PLANS } from '../../../src/metering/plans/plan.ts'
import {
  decidePlan,
  decideRenewal,
  type PlanDecision,
  type PlanState,
} from '../../../src/metering/plans/plan-period.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const times = fc.integer({ min: utc('1999-01-01T00:00:00'), max: utc('2101-01-01T00:00:00') })
const CREDIT = 1e6
type PlanName = keyof typeof PLANS
const PLAN_NAMES = Object.keys(PLANS) as PlanName[]

describe('renewal day', () => {
  it.each([
    ['2026-01-31T12:00:00', ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']],
    ['2028-01-31T00:00:00', ['2028-02-29', '2028-03-31']],
    ['2028-02-29T23:59:59', ['2028-03-29', '2028-04-29']],
    ['2100-01-30T08:00:00', ['2100-02-28', '2100-03-30']],
    ['2026-12-15T08:00:00', ['2027-01-15', '2027-02-15']],
  ])('of a plan begun on %s', (begun, days) => {
    const anchor = utc(begun)
    let now = anchor
    const seen = days.map(() => {
      now = renewalAfter(anchor, now)
      return day(now)
    })
    expect(seen).toEqual(days)
  })

  it('is the first one after now: midnight UTC on the account’s day, or the last day of a shorter month', () => {
    fc.assert(
      fc.property(times, times, (a, b) => {
        const anchor = Math.min(a, b)
        const now = Math.max(a, b)
        const at = renewalAfter(anchor, now)
        const date = new Date(at)
        expect(at).toBeGreaterThan(now)
        expect(at - now).toBeLessThanOrEqual(31 * 86_400_000)
        expect(at % 86_400_000).toBe(0)
        const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
        expect(date.getUTCDate()).toBe(Math.min(new Date(anchor).getUTCDate(), last))
      }),
    )
  })

  it('occurs once in every month after the first', () => {
    fc.assert(
      fc.property(times, (anchor) => {
        let at = anchor
        for (let i = 1; i <= 24; i++) {
          const next = renewalAfter(anchor, at)
          const months = (ms: number) => new Date(ms).getUTCFullYear() * 12 + new Date(ms).getUTCMonth()
          expect(months(next)).toBe(months(anchor) + i)
          at = next
        }
      }),
      { numRuns: 50 },
    )
  })

  it('is fourteen whole days for a trial', () => {
    expect(daysAfter(utc('2026-03-20T10:30:00'), 14)).toBe(utc('2026-04-03T10:30:00'))
  })
})

/** An account with a plan, as stored by the meter. */
class PlannedAccount {
  account: AccountState = EMPTY_ACCOUNT
  state: PlanState | null = null
  /** Two separate balances that follow the documented rule: the plan's balance is spent first, and only it expires. */
  plan = 0
  own = 0

  begin(plan: PlanName, now: number): void {
    const order = { plan, terms: PLANS[plan].terms, firstMicro: null }
    const decision = decidePlan(this.account, this.state, order, now)
    if (decision !== null) this.#turn(decision)
  }

  at(now: number): void {
    const decision = this.state === null ? null : decideRenewal(this.account, this.state, now)
    if (decision !== null) this.#turn(decision)
  }

  grant(amount: number): void {
    this.account = evolveAccount(this.account, decideGrant(this.account, amount)!)
    this.own += amount
  }

  charge(amount: number): void {
    const event = decideCharge(this.account, amount)
    if (event === null) return
    this.account = evolveAccount(this.account, event)
    const fromPlan = Math.min(this.plan, amount)
    this.plan -= fromPlan
    this.own -= amount - fromPlan
  }

  #turn({ events, state, expired }: PlanDecision): void {
    expect(expired).toBe(this.plan)
    this.account = events.reduce(evolveAccount, this.account)
    this.state = state
    this.plan = state.micro
  }
}

describe('plan credits', () => {
  it('are spent first and expire with the period; granted credits do not', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('charge' as const), amount: fc.integer({ min: 0, max: 20_000 * CREDIT }) }),
      fc.record({ do: fc.constant('grant' as const), amount: fc.integer({ min: 0, max: 5_000 * CREDIT }) }),
      fc.record({ do: fc.constant('wait' as const), amount: fc.integer({ min: 0, max: 80 * 86_400_000 }) }),
      fc.record({ do: fc.constant('plan' as const), amount: fc.nat(PLAN_NAMES.length - 1) }),
    )
    fc.assert(
      fc.property(times, fc.array(step, { maxLength: 60 }), (begun, steps) => {
        let now = begun
        const each = new PlannedAccount()
        each.begin('trial', now)
        for (const { do: what, amount } of steps) {
          if (what === 'wait') now += amount
          if (what === 'wait') each.at(now)
          else if (what === 'plan') each.begin(PLAN_NAMES[amount]!, now)
          else each[what](amount)
          const { available, held, spent, granted } = each.account
          expect(available).toBe(each.plan + each.own)
          expect(available).toBeGreaterThanOrEqual(0)
          expect(available + held + spent).toBe(granted)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('of a trial end after 14 days, and stay ended', () => {
    const each = new PlannedAccount()
    each.begin('trial', 0)
    each.grant(7 * CREDIT)
    each.charge(1_000 * CREDIT)
    each.at(14 * 86_400_000 - 1)
    expect(each.account.available).toBe(24_007 * CREDIT)
    each.at(14 * 86_400_000)
    expect(each.account.available).toBe(7 * CREDIT)
    each.at(400 * 86_400_000)
    expect(each.state).toMatchObject({ plan: 'trial', untilMs: null })
    expect(each.account.available).toBe(7 * CREDIT)
  })

  it('of skipped months are granted once', () => {
    const each = new PlannedAccount()
    each.begin('entry', utc('2026-01-31T12:00:00'))
    each.at(utc('2026-06-15T00:00:00'))
    expect(each.account.available).toBe(10_000 * CREDIT)
    expect(day(each.state!.untilMs!)).toBe('2026-06-30')
  })

  it('change immediately with the plan, and not when it stays the same', () => {
    const each = new PlannedAccount()
    each.begin('entry', utc('2026-01-10T12:00:00'))
    each.charge(4_000 * CREDIT)
    each.begin('professional', utc('2026-01-20T12:00:00'))
    expect(each.account.available).toBe(300_000 * CREDIT)
    expect(day(each.state!.untilMs!)).toBe('2026-02-20')
    each.charge(CREDIT)
    each.begin('professional', utc('2026-01-25T12:00:00'))
    expect(each.account.available).toBe(299_999 * CREDIT)
  })

  it('held by leases at the end of a period are never taken twice', () => {
    const each = new PlannedAccount()
    each.begin('entry', 0)
    each.grant(5 * CREDIT)
    each.account = evolveAccount(each.account, { type: 'leased', amount: 100 * CREDIT, untilMs: 1 })
    each.plan -= 100 * CREDIT
    each.at(40 * 86_400_000)
    each.account = evolveAccount(each.account, { type: 'returned', amount: 100 * CREDIT })
    const { state } = each
    const next = decideRenewal(each.account, state!, state!.untilMs!)!
    expect(next.expired).toBe(10_000 * CREDIT)
    expect(next.events.reduce(evolveAccount, each.account)).toMatchObject({ available: 10_105 * CREDIT, held: 0 })
  })
})
