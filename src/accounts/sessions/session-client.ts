// Names the browser and the place of a sign-in, for lists of sessions. Invariant: nothing that a client sent is stored as it is,
// except the country code of the platform.

import { areaOf } from '../../core/network.ts'

/** In the order of tests: browsers name those that they are compatible with. */
const BROWSERS = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bVersion\/[\d.]+ .*Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^(?:python|aiohttp)/i, 'Python'],
  [/^node/i, 'Node.js'],
] as const
const SYSTEMS = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const

const AGENT_MAX_LENGTH = 500

const nameIn = (names: readonly (readonly [pattern: RegExp, name: string])[], agent: string) =>
  names.find(([pattern]) => pattern.test(agent))?.[1]

/** `Firefox on Windows`, from a User-Agent header; empty if neither is known. */
export function browserOf(userAgent: string | null): string {
  const agent = (userAgent ?? '').slice(0, AGENT_MAX_LENGTH)
  return [nameIn(BROWSERS, agent), nameIn(SYSTEMS, agent)].filter((name) => name !== undefined).join(' on ')
}

/** ISO 3166-1 code of the country, or the network of the address (`192.0.2.0/24`); empty if neither is known. */
export function sessionPlace(country: unknown, address: string | null): string {
  // XX and T1 are unknown countries and Tor.
  if (typeof country === 'string' && /^[A-Z]{2}$/.test(country) && country !== 'XX') return country
  if (address === null) return ''
  return address.includes('.') ? `${areaOf(address)}.0/24` : `${areaOf(address)}::/48`
}
