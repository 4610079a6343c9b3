// Round-trip times between places in milliseconds. A place is a location hint of the platform. Assumed, not measured.

const ROUND_TRIP_MS = {
  'apac-ne': { 'apac-ne': 2, 'apac-se': 70, weur: 220, enam: 160, wnam: 105, sam: 260 },
  'apac-se': { 'apac-ne': 70, 'apac-se': 2, weur: 165, enam: 220, wnam: 170, sam: 320 },
  weur: { 'apac-ne': 220, 'apac-se': 165, weur: 2, enam: 85, wnam: 145, sam: 195 },
  enam: { 'apac-ne': 160, 'apac-se': 220, weur: 85, enam: 2, wnam: 60, sam: 120 },
  wnam: { 'apac-ne': 105, 'apac-se': 170, weur: 145, enam: 60, wnam: 2, sam: 175 },
  sam: { 'apac-ne': 260, 'apac-se': 320, weur: 195, enam: 120, wnam: 175, sam: 2 },
} as const

export type Place = keyof typeof ROUND_TRIP_MS

/** Places of hints that the table does not have. */
const NEAREST: Readonly<Record<string, Place>> = {
  apac: 'apac-se',
  oc: 'apac-se',
  me: 'weur',
  afr: 'weur',
  eeur: 'weur',
}

export const oneWayMs = (from: Place, to: Place): number => ROUND_TRIP_MS[from][to] / 2

/** Null for a hint that is missing or unknown. */
export function placeOf(hint: string | undefined): Place | null {
  if (hint === undefined) return null
  return hint in ROUND_TRIP_MS ? (hint as Place) : (NEAREST[hint] ?? null)
}
