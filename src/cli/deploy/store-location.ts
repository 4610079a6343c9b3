// Where the databases and the bucket belong: near the node, as the log. D1 and R2 know fewer locations than Durable
// Objects. A store never moves, so its location is decided when it is created. Pure.

import { STORE_LOCATIONS, type WeirSettings } from '../settings/weir-settings.ts'

const NEAREST: Readonly<Record<string, string>> = {
  'apac-ne': 'apac',
  'apac-se': 'apac',
  sam: 'enam',
  me: 'eeur',
  afr: 'weur',
}

const isLocation = (name: string) => STORE_LOCATIONS.some((one) => one === name)

/** The location of stores for a FEED_REGION; null if it names none. */
export function storeLocation(feedRegion: unknown): string | null {
  if (typeof feedRegion !== 'string') return null
  return isLocation(feedRegion) ? feedRegion : (NEAREST[feedRegion] ?? null)
}

/** The location of the stores of a gateway; null if Cloudflare chooses. */
export function locationOf({ location, vars }: Pick<WeirSettings, 'location' | 'vars'>): string | null {
  return location ?? storeLocation(vars.FEED_REGION)
}

/** One line for each store that is elsewhere. `found`: locations by store, such as `{"D1 weir-accounts":"WEUR"}`. */
export function misplacedStores(found: Readonly<Record<string, string>>, expected: string | null): string[] {
  return Object.entries(found)
    .map(([store, location]) => [store, location.toLowerCase()] as const)
    .filter(([, location]) => expected !== null && isLocation(location) && location !== expected)
    .map(
      ([store, location]) =>
        `${store} is in ${location}, but ${expected} is nearest to the node. If it is still empty, delete it, remove its id from weir.toml and deploy again. Otherwise keep it: it works, only slower.`,
    )
}
