// The clients and faults that a seed gives a soak.

import { describe, expect, it } from 'vitest'
import { Prng, seedState } from '../../src/devnet/exchange/prng.ts'
import { echoOf } from '../../src/relay/channel.ts'
import { readBody } from '../../src/relay/channels/catalogue.ts'
import { FAULTS, faultPlan, isRestart } from './faults.node.ts'
import { mixOf } from './mix.ts'
import { outagePlan } from './outage-plan.ts'

const coins = Array.from({ length: 300 }, (_, index) => `C${index}`)
const wallets = Array.from({ length: 20 }, (_, index) => `0x${String(index).padStart(40, '0')}`)
const listed = { coins, wallets, takers: wallets, builders: [`0x${'b'.repeat(40)}`] }
const chance = (seed = 7) => new Prng(seedState(seed))

describe('the clients', () => {
  it('are as many as asked for, of all kinds, in accounts of their kind', () => {
    const plans = mixOf(500, listed, chance())
    expect(plans).toHaveLength(500)
    expect(new Set(plans.map(({ kind }) => kind)).size).toBe(15)
    expect(plans.filter(({ kind, account }) => !account.startsWith(`${kind}-`))).toEqual([])
    expect([40, 77].map((count) => mixOf(count, listed, chance()).length)).toEqual([40, 77])
    expect(mixOf(500, listed, chance())).toEqual(plans)
    expect(mixOf(500, listed, chance(8))).not.toEqual(plans)
  })

  it('subscribe to what there is, as it is acknowledged', () => {
    const bodies = mixOf(500, listed, chance()).flatMap((plan) => plan.bodies)
    const told = bodies.map((body) => {
      const wanted = readBody(body)
      return wanted.ok ? echoOf(body, wanted.value) : wanted.error
    })
    expect(told).toEqual(bodies)
    expect(new Set(bodies.map(({ type }) => type)).size).toBe(21)
  })
})

describe('the faults', () => {
  const plan = faultPlan(1_800_000, 20_000, chance())

  it('come at their pace', () => {
    expect(plan.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 90 }, (_, index) => (index + 1) * 20_000))
  })

  it('are of every kind, four of them restarts that lie apart', () => {
    expect(new Set(plan.map(({ kind }) => kind))).toEqual(new Set(FAULTS))
    const restarts = plan.filter(({ kind }) => isRestart(kind)).map(({ atMs }) => atMs)
    expect(restarts).toHaveLength(4)
    expect(Math.min(...restarts.slice(1).map((at, index) => at - restarts[index]!))).toBeGreaterThan(400_000)
  })

  it('of a short run still have what they have time for', () => {
    expect(faultPlan(39_000, 10_000, chance()).map(({ kind }) => isRestart(kind))).toEqual([true, true, true])
    expect(faultPlan(5_000, 15_000, chance())).toEqual([])
  })
})

describe('the outages', () => {
  const plan = outagePlan(10, 1_200_000, chance())

  it('last from 30 s to 3 min in a run of twenty minutes with ten', () => {
    const lengths = [...Array(50).keys()].flatMap((seed) => outagePlan(10, 1_200_000, chance(seed)).map(({ ms }) => ms))
    expect([Math.min(...lengths) >= 30_000, Math.max(...lengths) <= 180_000]).toEqual([true, true])
    const totals = [...Array(50).keys()].map((seed) =>
      outagePlan(10, 1_200_000, chance(seed)).reduce((sum, { ms, calmMs }) => sum + ms + calmMs, 0),
    )
    expect(totals.reduce((sum, total) => sum + total) / totals.length).toBeLessThan(1_200_000)
  })

  it('are of every kind, as the seed says', () => {
    expect(new Set(plan.map(({ kind }) => kind)).size).toBe(4)
    expect(new Set(outagePlan(3, 180_000, chance()).map(({ kind }) => kind))).toEqual(
      new Set(['repaired', 'lost', 'covered']),
    )
    expect(outagePlan(10, 1_200_000, chance())).toEqual(plan)
    expect(outagePlan(10, 1_200_000, chance(8))).not.toEqual(plan)
  })
})
