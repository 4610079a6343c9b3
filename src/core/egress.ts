// Where URLs of customers may lead. Invariants: an address that is not of the public Internet is refused, however it is
// written; a name is refused where any of its addresses is, or where it has none; no host of the operator's own domains
// is reached, since Cloudflare lets a Worker's requests past firewall rules that keep others out.

import * as z from 'zod'
import { holdsAddress } from './address-range.ts'
import { LiveSettings } from './variables.ts'

/** Own machine, own networks, carriers' and link-local ones, documentation, multicast, what is reserved, and bridges to IPv4. */
const PRIVATE_RANGES: readonly string[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  '224.0.0.0/3',
  ...['::/128', '::1/128', '::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32'],
  ...['2002::/16', '3fff::/20', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]

/** What is no address is in none of them. */
const ALL_RANGES: readonly string[] = ['0.0.0.0/0', '::/0']
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)$/
/** Names that no resolver of the Internet knows. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/

export type HostKind = 'public' | 'private' | 'name'

/** Of a URL's host, as the platform's own parser writes it: numbers in other bases are addresses there. */
export function hostKind(hostname: string): HostKind {
  const host = bareHost(hostname)
  if (ADDRESS.test(host)) return isPublicAddress(host) ? 'public' : 'private'
  return LOCAL_NAME.test(host) || !host.includes('.') ? 'private' : 'name'
}

/** Without the brackets of IPv6, and dots that end a name. */
export function bareHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
}

export function isPublicAddress(address: string): boolean {
  const lower = address.toLowerCase()
  return holdsAddress(ALL_RANGES, lower) && !holdsAddress(PRIVATE_RANGES, lower)
}

/** Endings below which everybody may have a name of their own. */
const SHARED_ENDING = /^(?:workers\.dev|pages\.dev|(?:ac|co|com|edu|gob|gov|go|gr|ne|net|nom|or|org)\.[a-z]{2})$/

/** The domain that somebody registered, as far as its form tells; null: an address, or a name of a private network. */
export function registeredDomain(hostname: string): string | null {
  if (hostKind(hostname) !== 'name') return null
  const labels = bareHost(hostname).split('.')
  return labels.slice(SHARED_ENDING.test(labels.slice(-2).join('.')) ? -3 : -2).join('.')
}

/** Whether a host is one of these domains, or below one. */
export function isWithin(hostname: string, domains: readonly string[]): boolean {
  const host = bareHost(hostname)
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`))
}

export const EgressSettings = LiveSettings.extend({
  /** Who resolves names, by DNS over HTTPS with JSON. */
  PIPELINE_RESOLVER: z.url('must be an address such as https://cloudflare-dns.com/dns-query'),
})
export type EgressSettings = Pick<
  z.infer<typeof EgressSettings>,
  'PIPELINE_PRIVATE' | 'PIPELINE_RESOLVER' | 'PUBLIC_URL' | 'OWN_ZONES'
>
/** What the gateway knows of them: it resolves no names. */
export type UrlSettings = Readonly<Omit<EgressSettings, 'PIPELINE_RESOLVER'>>

/** Domains whose hosts are the operator's. */
export function ownDomains({ PUBLIC_URL, OWN_ZONES }: Pick<UrlSettings, 'PUBLIC_URL' | 'OWN_ZONES'>): string[] {
  const ofConsole = PUBLIC_URL === '' ? null : registeredDomain(new URL(PUBLIC_URL).hostname)
  return [...OWN_ZONES, ...(ofConsole === null ? [] : [ofConsole])]
}
