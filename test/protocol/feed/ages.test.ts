import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AgeCounts, ReportedAges } from '../../../src/protocol/feed/ages.ts'

const regionOf = (relay: string) => relay.split('/')[1]!
function told(ages: ReportedAges, relay: string, list: readonly number[], nowMs: number, sockets = 1) {
  const counts = new AgeCounts()
  for (const age of list) counts.add(age)
  ages.record({ v: 1, relay, sockets, subscriptions: 2, counts: counts.take(nowMs)! }, nowMs)
}
const NOW = 1_000_000

test("invariant: a region's p50 and p99 are at most a tenth above the true values, and never below", () => {
  const age = fc.integer({ min: 0, max: 60_000 })
  fc.assert(
    fc.property(fc.array(fc.array(age, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 4 }), (relays) => {
      const ages = new ReportedAges()
      for (const [i, list] of relays.entries()) told(ages, `c/apac/${i}`, list, NOW)
      const all = relays.flat().sort((a, b) => a - b)
      const [view] = ages.view(NOW, regionOf)
      for (const [share, shown] of [
        [0.5, view!.p50Ms],
        [0.99, view!.p99Ms],
      ] as const) {
        const exact = all[Math.ceil(share * all.length) - 1]!
        expect(shown).toBeGreaterThanOrEqual(exact)
        expect(shown).toBeLessThanOrEqual(1 + exact * 1.1)
      }
    }),
  )
})

test("separates regions with their relays and sockets, and uses only a relay's newest report", () => {
  const ages = new ReportedAges()
  told(ages, 'c/weur/0', [900], NOW, 9)
  told(ages, 'c/weur/0', [100], NOW + 1, 5)
  told(ages, 'c/weur/1001', [100, 100], NOW, 2)
  told(ages, 'c/apac/0', [10, 10, 10, 5000], NOW, 7)
  expect(ages.view(NOW + 1, regionOf)).toEqual([
    { region: 'apac', relays: 1, sockets: 7, subscriptions: 2, p50Ms: 10, p99Ms: expect.any(Number) },
    { region: 'weur', relays: 2, sockets: 7, subscriptions: 4, p50Ms: expect.any(Number), p99Ms: expect.any(Number) },
  ])
  const [apac, weur] = ages.view(NOW + 1, regionOf)
  expect(apac!.p99Ms).toBeGreaterThanOrEqual(5000)
  expect(weur!.p99Ms).toBeLessThan(120)
})

test('excludes a relay that has sent no report for three minutes', () => {
  const ages = new ReportedAges()
  told(ages, 'c/me/0', [5], NOW)
  expect(ages.view(NOW + 179_999, regionOf)).toHaveLength(1)
  expect(ages.view(NOW + 180_000, regionOf)).toEqual([])
})

test('reports new counts once a minute, and nothing without blocks', () => {
  const counts = new AgeCounts()
  expect(counts.take(NOW)).toBeNull()
  for (const age of [-50, 0, 0]) counts.add(age)
  expect(counts.take(NOW)).toEqual([[0, 3]])
  counts.add(1e9)
  expect(counts.take(NOW + 59_999)).toBeNull()
  expect(counts.take(NOW + 60_000)).toEqual([[128, 1]])
  expect(counts.take(NOW + 120_000)).toBeNull()
})

test('bounds counts by the number of buckets, whatever the ages', () => {
  const counts = new AgeCounts()
  for (let age = 0; age < 200_000; age += 7) counts.add(age)
  expect(counts.take(NOW)!.length).toBeLessThanOrEqual(129)
})
