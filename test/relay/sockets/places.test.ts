// How long customers in four cities wait for a block and for calls, by where their objects and stores are. The places
// are those that the gateway chooses; the times are those of map.ts. Compared: relays of all Asia in one region with
// everything else near the operator in Frankfurt, and the present places.

import { expect, it } from 'vitest'
import { storeLocation } from '../../../src/cli/deploy/store-location.ts'
import { type CallerLocation, placeOf, type RelayRegion } from '../../../src/relay/sockets/region.ts'
import { roundTripMs, TO_DATA_CENTER_MS } from './map.ts'

/** The node and the log are in Tokyo. */
const FEED: RelayRegion = 'apac-ne'
/** Where Cloudflare may place stores of a location that has no finer hint, at worst for Tokyo. */
const STORE_AT: Readonly<Record<string, RelayRegion>> = { apac: 'apac-se' }
/** An operator who gives no location gets stores near the place from which they were created. */
const OPERATOR: RelayRegion = 'weur'

interface Places {
  readonly relay: RelayRegion
  readonly meter: RelayRegion
  readonly store: RelayRegion
}

const CITIES: readonly (readonly [city: string, at: RelayRegion, location: CallerLocation])[] = [
  ['Tokyo', 'apac-ne', { continent: 'AS', country: 'JP', longitude: '139.7' }],
  ['Frankfurt', 'weur', { continent: 'EU', country: 'DE', longitude: '8.7' }],
  ['Ashburn', 'enam', { continent: 'NA', country: 'US', longitude: '-77.5' }],
  ['São Paulo', 'sam', { continent: 'SA', country: 'BR', longitude: '-46.6' }],
]

/** Milliseconds from the log to the customer. */
const blockMs = (at: RelayRegion, { relay }: Places) =>
  (roundTripMs(FEED, relay) + roundTripMs(relay, at)) / 2 + TO_DATA_CENTER_MS / 2

/**
 * Milliseconds of a call for the books in the hubs. The first call also looks up the key and leases credits, and a
 * `new` meter reads its account. Later calls find both in the isolate.
 */
function callMs(at: RelayRegion, { meter, store }: Places, call: 'new' | 'first' | 'tenth'): number {
  const answer = TO_DATA_CENTER_MS + roundTripMs(at, FEED)
  const first = roundTripMs(at, store) + roundTripMs(at, meter)
  return { tenth: answer, first: answer + first, new: answer + first + roundTripMs(meter, store) }[call]
}

it('customers wait less than with everything near the operator', () => {
  const storeHint = storeLocation(FEED)
  const store = STORE_AT[storeHint ?? ''] ?? OPERATOR
  const table = CITIES.map(([city, at, location]) => {
    const own = placeOf(location, null) as RelayRegion
    expect(own).toBe(at)
    const before: Places = { relay: own.startsWith('apac') ? 'apac-se' : own, meter: OPERATOR, store: OPERATOR }
    const after: Places = { relay: own, meter: own, store }
    return {
      city,
      blockBefore: blockMs(at, before),
      blockAfter: blockMs(at, after),
      firstBefore: callMs(at, before, 'first'),
      firstAfter: callMs(at, after, 'first'),
      newAfter: callMs(at, after, 'new'),
      tenthBefore: callMs(at, before, 'tenth'),
      tenthAfter: callMs(at, after, 'tenth'),
    }
  })
  console.table(table)
  const [tokyo, frankfurt, ashburn, saoPaulo] = table
  expect(tokyo).toMatchObject({ blockBefore: 76.5, blockAfter: 12.5, firstBefore: 489, firstAfter: 99 })
  // Near the operator, both stores were near too: the stores are now near the node, which serves most customers.
  expect(frankfurt).toMatchObject({ firstBefore: 262, firstAfter: 578 })
  for (const city of [ashburn!, saoPaulo!]) expect(city.blockAfter).toBe(city.blockBefore)
  for (const { tenthBefore, tenthAfter } of table) expect(tenthAfter).toBe(tenthBefore)
})
