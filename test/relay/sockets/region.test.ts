// Where callers are sent, by what the platform tells of them.

import { expect, it } from 'vitest'
import { REGIONS } from '../../../src/core/variables.ts'
import { type CallerPlace, regionOf } from '../../../src/relay/sockets/region.ts'

const of = (place: CallerPlace) => regionOf(place)

/** Country, continent as the platform has it, longitude of its exchange's or largest city. */
it.each([
  ['JP', 'AS', '139.7', 'apac-ne'],
  ['KR', 'AS', '127.0', 'apac-ne'],
  ['TW', 'AS', '121.5', 'apac-ne'],
  ['HK', 'AS', '114.2', 'apac-ne'],
  ['CN', 'AS', '121.5', 'apac-ne'],
  ['SG', 'AS', '103.8', 'apac-se'],
  ['ID', 'AS', '106.8', 'apac-se'],
  ['MY', 'AS', '101.7', 'apac-se'],
  ['TH', 'AS', '100.5', 'apac-se'],
  ['VN', 'AS', '106.7', 'apac-se'],
  ['PH', 'AS', '121.0', 'apac-se'],
  ['IN', 'AS', '72.9', 'apac-se'],
  ['PK', 'AS', '67.0', 'apac-se'],
  ['AE', 'AS', '55.3', 'me'],
  ['SA', 'AS', '46.7', 'me'],
  ['IL', 'AS', '34.8', 'me'],
  ['TR', 'AS', '29.0', 'eeur'],
  ['KZ', 'AS', '76.9', 'eeur'],
  ['UA', 'EU', '30.5', 'eeur'],
  ['GB', 'EU', '-0.1', 'weur'],
  ['DE', 'EU', '8.7', 'weur'],
  ['CH', 'EU', '8.5', 'weur'],
  ['PL', 'EU', '21.0', 'eeur'],
  ['US', 'NA', '-74.0', 'enam'],
  ['US', 'NA', '-122.4', 'wnam'],
  ['CA', 'NA', '-79.4', 'enam'],
  ['BR', 'SA', '-46.6', 'sam'],
  ['AU', 'OC', '151.2', 'oc'],
  ['NG', 'AF', '3.4', 'afr'],
] as const)('a caller in %s (%s, %s) goes to %s', (country, continent, longitude, region) => {
  expect(of({ continent, country, longitude })).toBe(region)
  expect(REGIONS).toContain(region)
})

it.each([
  ['JP', 'AS', 'apac-ne'],
  ['SG', 'AS', 'apac-se'],
  ['AE', 'AS', 'me'],
  ['UA', 'EU', 'eeur'],
  ['DE', 'EU', 'weur'],
  ['US', 'NA', 'enam'],
] as const)('a caller in %s without a longitude still goes there', (country, continent, region) => {
  for (const longitude of [undefined, '', ' ', 'east'])
    expect(of({ continent, country, ...(longitude !== undefined && { longitude }) })).toBe(region)
})

it.each([
  ['AS', '139.7', 'apac-ne'],
  ['AS', '103.8', 'apac-se'],
  ['AS', '46.7', 'me'],
  ['AS', undefined, 'apac-se'],
  ['EU', '30.5', 'eeur'],
  ['NA', '-122.4', 'wnam'],
] as const)('a caller of %s at %s without a country is placed by longitude', (continent, longitude, region) => {
  for (const country of [undefined, 'XX', 'T1'])
    expect(of({ continent, ...(country && { country }), ...(longitude && { longitude }) })).toBe(region)
})

it('of whom nothing is known is sent to any relay, and never to `apac`, which is no place', () => {
  for (const place of [undefined, {}, { longitude: '139.7' }, { country: 'T1' }, { continent: 'XX' }])
    expect(regionOf(place)).toBe('local')
  const all = Array.from({ length: 361 }, (_, i) => of({ continent: 'AS', longitude: `${i - 180}` }))
  expect(new Set(all)).toEqual(new Set(['me', 'apac-se', 'apac-ne']))
})
