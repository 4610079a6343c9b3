// Regions of callers, with and without a limit.

import { describe, expect, it } from 'vitest'
import {
  type CallerLocation,
  placeOf,
  RELAY_REGIONS,
  type RelayRegion,
  regionOf,
} from '../../../src/relay/sockets/region.ts'
import { roundTripMs } from './map.ts'

describe('the region of a caller', () => {
  it.each<[CallerLocation, string]>([
    [{ continent: 'AS', country: 'JP', longitude: '139.7' }, 'apac-ne'],
    [{ continent: 'AS', country: 'HK' }, 'apac-ne'],
    [{ continent: 'AS', country: 'SG' }, 'apac-se'],
    [{ continent: 'AS', country: 'IN', longitude: '72.8' }, 'apac-se'],
    [{ continent: 'AS', country: 'AE' }, 'me'],
    [{ continent: 'EU', country: 'DE', longitude: '8.7' }, 'weur'],
    [{ continent: 'EU', country: 'RO', longitude: '26' }, 'eeur'],
    [{ continent: 'NA', country: 'US', longitude: '-77' }, 'enam'],
    [{ continent: 'NA', country: 'US', longitude: '-122' }, 'wnam'],
    [{ continent: 'NA', country: 'US' }, 'enam'],
    [{ continent: 'SA', country: 'BR' }, 'sam'],
    [{ continent: 'AS', country: 'XX' }, 'apac-se'],
    [{}, 'local'],
  ])('%j is %s', (location, region) => {
    expect(regionOf(location)).toBe(region)
    expect(placeOf(location, null)).toBe(region)
  })
})

describe('a limit', () => {
  const three: RelayRegion[] = ['apac-ne', 'weur', 'enam']
  it.each<[CallerLocation | undefined, string]>([
    [{ country: 'JP' }, 'apac-ne'],
    [{ country: 'SG' }, 'apac-ne'],
    [{ country: 'RO' }, 'weur'],
    [{ continent: 'SA' }, 'enam'],
    [{ continent: 'AF' }, 'weur'],
    [{ continent: 'OC' }, 'apac-ne'],
    [{ continent: 'NA', longitude: '-122' }, 'enam'],
    // An unknown country, such as that of Tor.
    [{ country: 'T1' }, 'apac-ne'],
    [undefined, 'local'],
  ])('serves %j in %s', (location, region) => {
    expect(placeOf(location, three)).toBe(region)
  })

  it('serves every region in the nearest one by round-trip time', () => {
    const inRegion: Record<RelayRegion, CallerLocation> = {
      wnam: { continent: 'NA', longitude: '-122' },
      enam: { continent: 'NA', longitude: '-77' },
      sam: { continent: 'SA' },
      weur: { continent: 'EU', longitude: '2' },
      eeur: { country: 'RO' },
      'apac-ne': { country: 'JP' },
      'apac-se': { country: 'SG' },
      oc: { continent: 'OC' },
      afr: { continent: 'AF' },
      me: { country: 'AE' },
    }
    for (const own of RELAY_REGIONS)
      for (const a of RELAY_REGIONS)
        for (const b of RELAY_REGIONS) {
          const chosen = placeOf(inRegion[own], [a, b]) as RelayRegion
          expect(roundTripMs(own, chosen), `${own}: ${a} or ${b}`).toBe(
            Math.min(roundTripMs(own, a), roundTripMs(own, b)),
          )
        }
  })
})
