import { expect, it, test } from 'vitest'
import { REGIONS } from '../../../src/core/variables.ts'
import { poolOf, RelayRefusals, relayOrder } from '../../../src/relay/sockets/placement.ts'
import { type CallerLocation, type Region, regionOf } from '../../../src/relay/sockets/region.ts'

const ACCOUNTS = Array.from({ length: 8000 }, (_, i) => `acct_${i.toString(36)}`)

test('each account has its own order of all relays, and first choices are spread evenly', () => {
  const firsts = new Map<number, number>()
  for (const account of ACCOUNTS) {
    const order = relayOrder(account, 'light', 8)
    expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    firsts.set(order[0]!, (firsts.get(order[0]!) ?? 0) + 1)
  }
  for (const count of firsts.values()) expect(count).toBeGreaterThan(0.85 * 1000)
  const pairs = new Set(ACCOUNTS.map((account) => relayOrder(account, 'light', 8).slice(0, 2).join()))
  expect(pairs.size).toBe(8 * 7)
})

test("an added relay leaves the rest of an account's order unchanged", () => {
  let moved = 0
  for (const account of ACCOUNTS) {
    const after = relayOrder(account, 'light', 9)
    if (after[0] === 8) moved++
    expect(after.filter((index) => index !== 8)).toEqual(relayOrder(account, 'light', 8))
  }
  expect(moved / ACCOUNTS.length).toBeCloseTo(1 / 9, 1)
})

test('heavy relays differ from light ones by name', () => {
  expect(relayOrder('a', 'light', 1)).toEqual([0])
  const heavy = relayOrder('a', 'heavy', 256)
  expect(heavy.map((index) => poolOf(`hyperliquid/weur/${index}`))).toEqual(heavy.map(() => 'heavy'))
  expect([poolOf('hyperliquid/weur/255'), poolOf('a name of another form')]).toEqual(['light', 'light'])
})

test('refusals are remembered for a while, separately and bounded', () => {
  const refusals = new RelayRefusals()
  refusals.markFull('weur', 1, 0)
  refusals.markHeavy('a', 0)
  expect([refusals.isFull('weur', 1, 1999), refusals.isFull('weur', 1, 2000), refusals.isFull('enam', 1, 0)]).toEqual([
    true,
    false,
    false,
  ])
  expect([refusals.pool('a', 59_999), refusals.pool('a', 60_000), refusals.pool('b', 0)]).toEqual([
    'heavy',
    'light',
    'light',
  ])
  for (let i = 0; i < 20_000; i++) refusals.markHeavy(`x${i}`, 0)
  expect([refusals.pool('a', 0), refusals.pool('x19999', 0)]).toEqual(['light', 'heavy'])
})

const of = (place: CallerLocation) => regionOf(place)

/** Region, country, the platform's continent, and the longitude of the largest city. */
const CALLERS: Readonly<Partial<Record<Region, string>>> = {
  'apac-ne': 'JP AS 139.7, KR AS 127.0, TW AS 121.5, HK AS 114.2, CN AS 121.5',
  'apac-se': 'SG AS 103.8, ID AS 106.8, MY AS 101.7, TH AS 100.5, VN AS 106.7, PH AS 121.0, IN AS 72.9, PK AS 67.0',
  me: 'AE AS 55.3, SA AS 46.7, IL AS 34.8',
  eeur: 'TR AS 29.0, KZ AS 76.9, UA EU 30.5, PL EU 21.0',
  weur: 'GB EU -0.1, DE EU 8.7, CH EU 8.5, SE EU 18.1',
  enam: 'US NA -74.0, CA NA -79.4',
  wnam: 'US NA -122.4',
  sam: 'BR SA -46.6',
  oc: 'AU OC 151.2',
  afr: 'NG AF 3.4',
}
const inRegions = Object.entries(CALLERS).flatMap(([region, callers]) =>
  callers.split(', ').map((caller) => [caller, region] as const),
)

it.each(inRegions)('a caller in %s goes to %s', (caller, region) => {
  const [country, continent, longitude] = caller.split(' ') as [string, string, string]
  expect(of({ continent, country, longitude })).toBe(region)
  expect(REGIONS).toContain(region)
})

it('a caller in a known country without a longitude still goes there', () => {
  for (const [caller, region] of inRegions) {
    const [country, continent] = caller.split(' ') as [string, string]
    // Poland and the western United States are in another region than most of their continents.
    if (country === 'PL' || region === 'wnam') continue
    for (const longitude of [undefined, '', ' ', 'east'])
      expect(of({ continent, country, ...(longitude !== undefined && { longitude }) }), country).toBe(region)
  }
})

it.each(inRegions.filter(([caller]) => /^(JP|SG|SA|UA) |US NA -122/.test(caller)))(
  'a caller without a country is placed by longitude: %s is %s',
  (caller, region) => {
    const [, continent, longitude] = caller.split(' ') as [string, string, string]
    for (const country of [undefined, 'XX', 'T1'])
      expect(of({ continent, longitude, ...(country && { country }) })).toBe(region)
    expect(of({ continent: 'AS' })).toBe('apac-se')
  },
)

it('an unknown caller goes to any relay, and never to the nonexistent `apac`', () => {
  for (const place of [undefined, {}, { longitude: '139.7' }, { country: 'T1' }, { continent: 'XX' }])
    expect(regionOf(place)).toBe('local')
  const all = Array.from({ length: 361 }, (_, i) => of({ continent: 'AS', longitude: `${i - 180}` }))
  expect(new Set(all)).toEqual(new Set(['me', 'apac-se', 'apac-ne']))
})
