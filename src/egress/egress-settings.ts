// Variables that say where URLs of customers may lead.

import * as z from 'zod'
import { LiveSettings } from '../core/variables.ts'
import { registeredDomain } from './egress.ts'

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
