import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changeOf,
  differencesOf,
  formOf,
  LIMITS,
  type Plan,
  type PlanForm,
} from '../../src/console/operator/plan-edit.ts'
import { plansFields, plansNoEnd, plansUnlimited, plansUnset } from '../../src/console/operator/plan-strings.ts'
import { SetPlan } from '../../src/http/platform/plan-shapes.ts'

const PLAN: Plan = {
  name: 'entry',
  credits: '10000.5',
  period: 'month',
  days: null,
  rest_requests_per_second: 4,
  info_requests_per_second: 1_000,
  stream_connections: 100,
  stream_subscriptions: 1_000,
  stream_messages_per_minute: 2_000,
  custom: false,
  accounts: 12,
}
const change = (plan: Plan | null, typed: Partial<PlanForm>) => changeOf(plan, { ...formOf(plan), ...typed })

describe('the form of a plan', () => {
  it.each([
    PLAN,
    { ...PLAN, rest_requests_per_second: null },
    { ...PLAN, period: 'once' as const, days: 14 },
    { ...PLAN, period: 'once' as const },
  ])('changes nothing as it opens', (plan) => {
    expect(changeOf(plan, formOf(plan))).toEqual({})
    expect(differencesOf(plan, {})).toEqual([])
  })

  it('sends null for no limit, also for a new plan', () => {
    expect(change(PLAN, { rest_requests_per_second: null })).toEqual({ rest_requests_per_second: null })
    const made = change(null, { credits: '1,000', rest_requests_per_second: null })
    expect(made).toEqual({ credits: '1000', period: 'month', rest_requests_per_second: null, custom: false })
    expect(SetPlan.safeParse(made).success).toBe(true)
  })

  it('lifts the end of a plan, and sends no days of a monthly one', () => {
    const once: Plan = { ...PLAN, period: 'once', days: 14 }
    expect(change(once, { days: null })).toEqual({ days: null })
    expect(change(once, { period: 'month', days: '30' })).toEqual({ period: 'month' })
    expect(change(PLAN, { period: 'once', days: '30' })).toEqual({ period: 'once', days: 30 })
  })

  it('says what changes, and from what', () => {
    const differences = differencesOf(
      PLAN,
      change(PLAN, { credits: '12 000', rest_requests_per_second: null, stream_connections: '100' }),
    )
    expect(differences).toEqual([
      { name: plansFields.credits, before: '10,000.5', after: '12,000' },
      { name: plansFields.rest_requests_per_second, before: '4', after: plansUnlimited },
    ])
    expect(differencesOf({ ...PLAN, period: 'once' }, { days: 30 })[0]).toMatchObject({
      before: plansNoEnd,
      after: '30',
    })
    expect(differencesOf(null, { credits: '5' })[0]).toMatchObject({ before: plansUnset, after: '5' })
  })

  it('sends exactly the fields whose number differs, in a form that the gateway takes', () => {
    const typed = fc.uniqueArray(fc.tuple(fc.constantFrom(...LIMITS), fc.integer({ min: 1, max: 100_000 })), {
      selector: ([limit]) => limit,
    })
    fc.assert(
      fc.property(typed, (limits) => {
        const sent = change(PLAN, Object.fromEntries(limits.map(([name, value]) => [name, value.toLocaleString('en')])))
        const differing = limits.filter(([name, value]) => PLAN[name] !== value)
        expect(sent).toEqual(Object.fromEntries(differing))
        expect(SetPlan.safeParse(sent).success).toBe(true)
      }),
    )
  })
})
