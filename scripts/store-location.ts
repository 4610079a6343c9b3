// Where the databases and the bucket belong: near the node, as the log. D1 and R2 know fewer locations than Durable
// Objects. A store never moves, so its location is part of the command that creates it. Pure.

const STORE_LOCATIONS = ['wnam', 'enam', 'weur', 'eeur', 'apac', 'oc']
const NEAREST: Readonly<Record<string, string>> = {
  'apac-ne': 'apac',
  'apac-se': 'apac',
  sam: 'enam',
  me: 'eeur',
  afr: 'weur',
}

/** The location of stores for a FEED_REGION; null if it names none. */
export function storeLocation(feedRegion: unknown): string | null {
  if (typeof feedRegion !== 'string') return null
  return STORE_LOCATIONS.includes(feedRegion) ? feedRegion : (NEAREST[feedRegion] ?? null)
}

/** The option for the command that creates a store; empty without a FEED_REGION. */
export function locationOption(feedRegion: unknown): string {
  const location = storeLocation(feedRegion)
  return location === null ? '' : ` --location ${location}`
}

/** One line for each store that is elsewhere. `found`: locations by store, such as `{"D1 weir-accounts":"WEUR"}`. */
export function misplacedStores(found: Readonly<Record<string, string>>, feedRegion: unknown): string[] {
  const expected = storeLocation(feedRegion)
  return Object.entries(found)
    .map(([store, location]) => [store, location.toLowerCase()] as const)
    .filter(([, location]) => expected !== null && STORE_LOCATIONS.includes(location) && location !== expected)
    .map(
      ([store, location]) =>
        `${store} is in ${location}, but ${expected} is nearest to FEED_REGION. If it is still empty, delete it and create it with --location ${expected}. Otherwise keep it: it works, only slower.`,
    )
}
