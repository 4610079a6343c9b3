// Limits which hosts customer URLs may reach. Cloudflare does not apply firewall rules to requests of Workers, so this
// file protects the operator's hosts. Invariants: a non-public address is rejected in any notation; a name is rejected
// if one of its addresses is rejected, or if it has no address; hosts in the operator's own domains are rejected.

import * as z from 'zod'
import { holdsAddress } from './address-range.ts'
import { LiveSettings } from './variables.ts'

/** Loopback, private, carrier-grade NAT, link-local, documentation, multicast, reserved, and IPv4 transition ranges. */
const PRIVATE_RANGES: readonly string[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  '224.0.0.0/3',
  ...['::/128', '::1/128', '::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32'],
  ...['2002::/16', '3fff::/20', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]

/** All addresses. A string that is not an address is in neither range. */
const ALL_RANGES: readonly string[] = ['0.0.0.0/0', '::/0']
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)$/
/** Names that public DNS does not resolve. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/

export type HostKind = 'public' | 'private' | 'name'

/**
 * The kind of a host. The argument must be the host of a parsed URL, because parsing normalizes addresses in other
 * number bases.
 */
export function hostKind(hostname: string): HostKind {
  const host = bareHost(hostname)
  if (ADDRESS.test(host)) return isPublicAddress(host) ? 'public' : 'private'
  return LOCAL_NAME.test(host) || !host.includes('.') ? 'private' : 'name'
}

/** Removes IPv6 brackets and trailing dots. */
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

/** Suffixes below which anyone can register a name. */
const SHARED_ENDING = /^(?:workers\.dev|pages\.dev|(?:ac|co|com|edu|gob|gov|go|gr|ne|net|nom|or|org)\.[a-z]{2})$/

/** The registrable domain, derived from the form of the name. Null for an address or a private name. */
export function registeredDomain(hostname: string): string | null {
  if (hostKind(hostname) !== 'name') return null
  const labels = bareHost(hostname).split('.')
  return labels.slice(SHARED_ENDING.test(labels.slice(-2).join('.')) ? -3 : -2).join('.')
}

/** Whether the host equals one of the domains or is a subdomain of one. */
export function isWithin(hostname: string, domains: readonly string[]): boolean {
  const host = bareHost(hostname)
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`))
}

export const EgressSettings = LiveSettings.extend({
  /** A DNS-over-HTTPS resolver that returns JSON. */
  PIPELINE_RESOLVER: z.url('must be a URL such as https://cloudflare-dns.com/dns-query'),
})
export type EgressSettings = Pick<
  z.infer<typeof EgressSettings>,
  'PIPELINE_PRIVATE' | 'PIPELINE_RESOLVER' | 'PUBLIC_URL' | 'OWN_ZONES'
>
/** The settings that the gateway needs. The gateway does not resolve names. */
export type UrlSettings = Readonly<Omit<EgressSettings, 'PIPELINE_RESOLVER'>>

/** Domains whose hosts belong to the operator. */
export function ownDomains({ PUBLIC_URL, OWN_ZONES }: Pick<UrlSettings, 'PUBLIC_URL' | 'OWN_ZONES'>): string[] {
  const ofConsole = PUBLIC_URL === '' ? null : registeredDomain(new URL(PUBLIC_URL).hostname)
  return [...OWN_ZONES, ...(ofConsole === null ? [] : [ofConsole])]
}
