// Which relays a caller is sent to: those nearest to where the platform says it is.

/** What the platform tells of a caller; absent on a single machine. */
export interface CallerPlace {
  readonly continent?: string
  /** Degrees, as text. */
  readonly longitude?: string
}

export type Region = 'local' | 'wnam' | 'enam' | 'sam' | 'weur' | 'eeur' | 'apac' | 'oc' | 'afr' | 'me'

const OF_CONTINENT: Readonly<Record<string, Region>> = { SA: 'sam', OC: 'oc', AF: 'afr', AN: 'oc' }
/** Roughly the Mississippi, the Vistula and the Indus: where the next region's machines become nearer. */
const NORTH_AMERICA_DIVIDE = -95
const EUROPE_DIVIDE = 20
const ASIA_DIVIDE = 65

/** The platform's location hint of a caller; `local` where nothing is known. */
export function regionOf(place: CallerPlace | undefined): Region {
  const continent = place?.continent
  if (continent === undefined) return 'local'
  const east = Number(place?.longitude ?? 0)
  if (continent === 'NA') return east < NORTH_AMERICA_DIVIDE ? 'wnam' : 'enam'
  if (continent === 'EU') return east < EUROPE_DIVIDE ? 'weur' : 'eeur'
  if (continent === 'AS') return east < ASIA_DIVIDE ? 'me' : 'apac'
  return OF_CONTINENT[continent] ?? 'local'
}
