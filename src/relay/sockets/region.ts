// Maps a caller to the nearest relay region by country, because the platform knows the country best. Longitude decides
// where a continent or country spans several regions.

/** The platform's location of a caller; absent on a single machine. */
export interface CallerLocation {
  readonly continent?: string
  /** ISO 3166-1 alpha-2. */
  readonly country?: string
  /** Degrees, as a string. */
  readonly longitude?: string
}

/** Regions of relays: the location hints without `apac`, which spans Tokyo and Mumbai. */
export type RelayRegion = 'wnam' | 'enam' | 'sam' | 'weur' | 'eeur' | 'apac-ne' | 'apac-se' | 'oc' | 'afr' | 'me'
export type Region = 'local' | RelayRegion

/** Countries that belong to one region, whatever the longitude. */
const COUNTRIES_OF_REGION: Partial<Readonly<Record<Region, string>>> = {
  'apac-ne': 'JP KR KP TW HK MO CN MN',
  'apac-se': 'SG ID MY TH VN PH IN BN KH LA MM TL BD LK NP BT PK MV',
  me: 'AE SA QA BH KW OM YE IR IQ JO LB SY IL PS AF',
  eeur: 'TR CY GE AM AZ KZ UZ TM TJ KG RU UA BY MD RO BG GR EE LV LT FI',
}
const REGION_OF_COUNTRY = new Map(
  Object.entries(COUNTRIES_OF_REGION).flatMap(([region, countries]) =>
    countries.split(' ').map((country) => [country, region as Region] as const),
  ),
)
const REGION_OF_CONTINENT: Readonly<Record<string, Region>> = { SA: 'sam', OC: 'oc', AF: 'afr', AN: 'oc' }

type Band = readonly [upTo: number, region: Region]
const bands = (unknown: Region, ...from: readonly Band[]) => ({ unknown, bands: from })

/** Upper longitudes from west to east: roughly the Mississippi, the Vistula, the Indus, the South China Sea. */
const BANDS: Readonly<Record<string, ReturnType<typeof bands>>> = {
  NA: bands('enam', [-95, 'wnam'], [180, 'enam']),
  EU: bands('weur', [20, 'weur'], [180, 'eeur']),
  AS: bands('apac-se', [65, 'me'], [114, 'apac-se'], [180, 'apac-ne']),
}

/** The other regions by round-trip time, nearest first (test/relay/sockets/map.ts has the times). */
const NEIGHBORS: Readonly<Record<RelayRegion, string>> = {
  wnam: 'enam apac-ne oc weur apac-se sam eeur me afr',
  enam: 'wnam weur eeur sam apac-ne me apac-se oc afr',
  sam: 'enam wnam weur eeur apac-ne me oc apac-se afr',
  weur: 'eeur enam me afr wnam sam apac-ne oc apac-se',
  eeur: 'weur me enam afr wnam sam apac-ne oc apac-se',
  'apac-ne': 'apac-se wnam oc enam me weur sam eeur afr',
  'apac-se': 'apac-ne me wnam oc enam afr weur sam eeur',
  oc: 'apac-ne wnam apac-se enam me sam weur afr eeur',
  afr: 'me weur eeur enam apac-se wnam oc apac-ne sam',
  me: 'eeur weur apac-se afr apac-ne enam wnam oc sam',
}
export const RELAY_REGIONS = Object.keys(NEIGHBORS) as RelayRegion[]

/**
 * Returns the caller's region, or the nearest of the `allowed` ones. Null allows all. If the location is unknown, the
 * result is the first allowed one, or `local` if there is no limit or no location at all, as on a single machine.
 */
export function placeOf(location: CallerLocation | undefined, allowed: readonly RelayRegion[] | null): Region {
  const region = regionOf(location)
  const [first] = allowed ?? []
  if (allowed === null || first === undefined || location === undefined) return region
  if (region === 'local') return first
  if (allowed.includes(region)) return region
  return allowed.toSorted((a, b) => NEIGHBORS[region].indexOf(a) - NEIGHBORS[region].indexOf(b))[0] ?? first
}

/** Returns the platform's location hint for a caller; `local` if the location is unknown. */
export function regionOf(location: CallerLocation | undefined): Region {
  const { continent = '', country = '', longitude = '' } = location ?? {}
  const known = REGION_OF_COUNTRY.get(country) ?? REGION_OF_CONTINENT[continent]
  if (known !== undefined) return known
  const split = BANDS[continent]
  if (split === undefined) return 'local'
  const east = longitude.trim() === '' ? Number.NaN : Number(longitude)
  return split.bands.find(([upTo]) => east < upTo)?.[1] ?? split.unknown
}
