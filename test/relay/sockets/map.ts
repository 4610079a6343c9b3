// Round-trip times between location hints, in milliseconds. Measured between data centers of another cloud in these
// places, as published in April 2017 ("Latency Between AWS Global Regions"): N. California, N. Virginia, São Paulo,
// Frankfurt, Tokyo, Singapore, Sydney. The rest is assumed, because that list has no place there: Eastern Europe (30 ms
// from Frankfurt), the Middle East and Africa.

import type { RelayRegion } from '../../../src/relay/sockets/region.ts'

/** To an object in the same region, and from a customer to the nearest data center. Assumed. */
const WITHIN_MS = 10
export const TO_DATA_CENTER_MS = 5

const TIMES: Readonly<Record<string, number>> = {
  'wnam enam': 72,
  'wnam sam': 193,
  'wnam weur': 167,
  'wnam apac-ne': 102,
  'wnam apac-se': 174,
  'wnam oc': 158,
  'enam sam': 120,
  'enam weur': 89,
  'enam apac-ne': 145,
  'enam apac-se': 217,
  'enam oc': 230,
  'sam weur': 195,
  'sam apac-ne': 257,
  'sam apac-se': 328,
  'sam oc': 322,
  'weur apac-ne': 237,
  'weur apac-se': 326,
  'weur oc': 323,
  'apac-ne apac-se': 74,
  'apac-ne oc': 104,
  'apac-se oc': 175,
  // Assumed from here on.
  'eeur weur': 30,
  'eeur wnam': 197,
  'eeur enam': 119,
  'eeur sam': 225,
  'eeur apac-ne': 267,
  'eeur apac-se': 356,
  'eeur oc': 353,
  'me eeur': 100,
  'me weur': 120,
  'me enam': 200,
  'me wnam': 270,
  'me sam': 310,
  'me apac-se': 130,
  'me apac-ne': 190,
  'me oc': 280,
  'afr me': 150,
  'afr weur': 160,
  'afr eeur': 190,
  'afr enam': 240,
  'afr wnam': 310,
  'afr sam': 350,
  'afr apac-se': 300,
  'afr apac-ne': 340,
  'afr oc': 330,
}

export function roundTripMs(a: RelayRegion, b: RelayRegion): number {
  return a === b ? WITHIN_MS : (TIMES[`${a} ${b}`] ?? TIMES[`${b} ${a}`] ?? Number.NaN)
}
