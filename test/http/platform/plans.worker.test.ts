import { describe, expect, it } from 'vitest'
import { keyFromD1 } from '../../../src/accounts/key-records.store.ts'
import { keyHashOf } from '../../../src/core/ids.ts'
import { PLANS } from '../../../src/metering/plans/plan.ts'
import { PlanTable } from '../../../src/metering/plans/plan-table.store.ts'
import { ask, bindings, meterOf, newKey } from './operator.worker.ts'

const CREDIT = 1e6

describe('the table of plans', () => {
  it('starts with the plans of the specification', async () => {
    const listed = await new PlanTable(bindings.ACCOUNTS).list()
    expect(listed.map(({ accounts: _, ...plan }) => plan)).toEqual(
      Object.values(PLANS).sort((a, b) => (a.name < b.name ? -1 : 1)),
    )
    const { json } = await ask('GET', '/plans')
    expect(json.plans[3]).toMatchObject({ name: 'trial', credits: '25000', period: 'once', days: 14 })
  })

  it('accepts a new plan and changes of individual fields', async () => {
    expect(await ask('PUT', '/plans/team', { credits: '50000.5', rest_requests_per_second: null })).toMatchObject({
      status: 200,
      json: {
        credits: '50000.5',
        period: 'month',
        days: null,
        rest_requests_per_second: null,
        custom: false,
        accounts: 0,
      },
    })
    const weekly = { period: 'once', days: 7, stream_connections: 3, custom: true }
    expect((await ask('PUT', '/plans/team', weekly)).json).toMatchObject({
      ...weekly,
      credits: '50000.5',
      rest_requests_per_second: null,
      info_requests_per_second: 1000,
    })
    expect((await ask('PUT', '/plans/team', { period: 'month' })).json).toMatchObject({ period: 'month', days: null })
    expect((await ask('DELETE', '/plans/team')).json).toEqual({ removed: 'team' })
    expect((await ask('DELETE', '/plans/team')).status).toBe(404)
  })

  it('keeps a plan that accounts use, and its period', async () => {
    await ask('PUT', '/plans/kept', { credits: 5, rest_requests_per_second: 1 })
    await ask('PUT', '/accounts/keeper', { plan: 'kept' })
    const removed = await ask('DELETE', '/plans/kept')
    expect([removed.status, removed.json.error_message]).toEqual([409, expect.stringMatching(/^name: 1 /)])
    const changed = await ask('PUT', '/plans/kept', { period: 'once' })
    expect([changed.status, changed.json.error_message]).toEqual([400, expect.stringMatching(/^period: .*\b1 account/)])
    expect((await ask('PUT', '/accounts/keeper/plan', { plan: 'entry' })).status).toBe(200)
    expect((await ask('DELETE', '/plans/kept')).status).toBe(200)
    const gone = await ask('PUT', '/accounts/keeper/plan', { plan: 'kept' })
    expect([gone.status, gone.json.error_message]).toEqual([400, expect.stringContaining('plan: ')])
    expect((await ask('GET', '/accounts/keeper')).json.plan).toBe('entry')
  })
})

describe('a changed plan', () => {
  it('is applied to its accounts page by page: credits from the next period, limits at once', async () => {
    await ask('PUT', '/plans/growing', { credits: 100, rest_requests_per_second: 2, custom: true })
    const ids = Array.from({ length: 12 }, (_, i) => `growing-${String.fromCharCode(97 + i)}`)
    for (const id of ids) await ask('PUT', `/accounts/${id}`, { plan: 'growing' })
    await ask('PUT', '/accounts/growing-own', { plan: 'growing', terms: { credits: 7, rest_requests_per_second: 9 } })
    const { hash } = await newKey({ account: ids[0] })
    const agreed = await newKey({ account: 'growing-own' })
    await ask('PUT', '/plans/growing', { credits: 120, rest_requests_per_second: 3 })
    const first = await ask('POST', '/plans/growing/apply')
    expect(first.json).toEqual({ told: 10, next: 'growing-j' })
    expect((await ask('POST', '/plans/growing/apply?after=growing-j')).json).toEqual({ told: 3, next: null })
    for (const id of ids) {
      expect((await ask('GET', `/accounts/${id}`)).json).toMatchObject({
        balance: '100',
        period: { credits: '100', renews_with: '120' },
      })
    }
    expect(JSON.parse((await bindings.KEYS.get(`key:${hash}`)) ?? '{}').limits).toMatchObject({ requestsPerSecond: 3 })
    expect((await keyFromD1(bindings.ACCOUNTS, agreed.hash))?.limits).toMatchObject({
      requestsPerSecond: 9,
      infoRequestsPerSecond: 1000,
    })
    expect(await meterOf('growing-own').plan()).toMatchObject({ everyMicro: 7 * CREDIT })
    expect((await ask('POST', '/plans/nothing/apply')).status).toBe(404)
  })

  it('does not affect an account on another plan', async () => {
    await ask('PUT', '/accounts/leaver', { plan: 'professional' })
    await meterOf('leaver').renewWith('entry', CREDIT)
    expect(await meterOf('leaver').plan()).toMatchObject({ everyMicro: 300_000 * CREDIT })
  })
})

describe('terms of one account', () => {
  it('need a custom plan, are shown, and end with the plan', async () => {
    const terms = { credits: '500000.25', rest_requests_per_second: 200, stream_messages_per_minute: 9000 }
    expect((await ask('PUT', '/accounts/big', { plan: 'enterprise', terms })).json.balance).toBe('500000.25')
    expect((await ask('GET', '/accounts/big')).json).toMatchObject({ plan: 'enterprise', terms })
    const { hash } = await newKey({ account: 'big' })
    expect((await keyFromD1(bindings.ACCOUNTS, keyHashOf(hash)))?.limits).toEqual({
      ...PLANS.enterprise.limits,
      requestsPerSecond: 200,
      streamMessagesPerMinute: 9000,
    })
    const changed = await ask('PUT', '/accounts/big/plan', { plan: 'enterprise', terms: { credits: 3 } })
    expect(changed.json).toMatchObject({ terms: { credits: '3' }, period: { credits: '3' } })
    await ask('PUT', '/accounts/big/plan', { plan: 'entry' })
    expect((await ask('GET', '/accounts/big')).json).toMatchObject({ plan: 'entry', terms: null, balance: '10000' })
    expect((await keyFromD1(bindings.ACCOUNTS, keyHashOf(hash)))?.limits).toEqual(PLANS.entry.limits)
  })

  it('can be set with the first key', async () => {
    const { account } = await newKey({ plan: 'enterprise', terms: { credits: 12 } })
    expect(await meterOf(account).balance()).toMatchObject({ available: 12 * CREDIT })
  })
})
