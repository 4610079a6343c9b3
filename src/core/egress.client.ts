// Decides whether data may be sent to a host. A Worker has no resolver, so names are resolved with DNS over HTTPS. A
// name may resolve to a different address when the connection is made. Cloudflare also blocks private addresses at that point. A
// self-hosted workerd must be configured to block them.

import * as z from 'zod'
import { BoundedMap } from './bounded-map.ts'
import {
  bareHost,
  type EgressSettings,
  hostKind,
  isPublicAddress,
  isWithin,
  ownDomains,
  type UrlSettings,
} from './egress.ts'

const CACHE_MS = 60_000
const TIMEOUT_MS = 5_000
const NAMES_MAX = 256
const RESPONSE_MAX_BYTES = 16 * 1024
const TYPES = ['A', 'AAAA'] as const
/** DNS record types of IPv4 and IPv6 addresses. Answers of other types are intermediate names. */
const CODES = [1, 28]
const DnsResponse = z.object({ Answer: z.array(z.object({ type: z.number(), data: z.string() })).default([]) })

const OWN_HOST_MESSAGE = 'the destination is a host of this service'
const PRIVATE_MESSAGE = 'the destination is a private address; the operator can allow those with PIPELINE_PRIVATE=on'

/** The reason to reject a destination or webhook URL, without resolving its name. Null if the URL is accepted. */
export function urlRefusal(url: string, settings: UrlSettings): string | null {
  // Most clients recognize numeric addresses in other bases, but URL.parse does so only for web schemes. The scheme is
  // therefore replaced.
  const host = URL.parse(url.replace(/^postgres(?:ql)?:/i, 'https:'))?.hostname
  if (host !== undefined && isWithin(host, ownDomains(settings))) return 'must not be a host of this service'
  if (settings.PIPELINE_PRIVATE) return null
  if (/^http:/i.test(url)) return 'must be https (plain http needs PIPELINE_PRIVATE=on)'
  if (host !== undefined && hostKind(host) !== 'private') return null
  return 'must be a public address (private ones need PIPELINE_PRIVATE=on)'
}

export class Egress {
  readonly #settings: EgressSettings
  readonly #ownDomains: readonly string[]
  readonly #fetch: typeof fetch
  readonly #cache = new BoundedMap<string, { readonly untilMs: number; readonly refusal: string | null }>(NAMES_MAX)

  constructor(settings: EgressSettings, fetcher: typeof fetch = fetch) {
    this.#settings = settings
    this.#ownDomains = ownDomains(settings)
    this.#fetch = fetcher
  }

  /** The reason to reject the destination; null if it is accepted. `isSafe`: the connection is encrypted. */
  async refusal(hostname: string, isSafe: boolean): Promise<string | null> {
    if (isWithin(hostname, this.#ownDomains)) return OWN_HOST_MESSAGE
    if (this.#settings.PIPELINE_PRIVATE) return null
    if (!isSafe) return 'the destination must use TLS: use https'
    const kind = hostKind(hostname)
    if (kind === 'private') return PRIVATE_MESSAGE
    return kind === 'public' ? null : this.#nameRefusal(bareHost(hostname))
  }

  async #nameRefusal(name: string): Promise<string | null> {
    const nowMs = Date.now()
    const known = this.#cache.get(name)
    if (known && known.untilMs > nowMs) return known.refusal
    try {
      const addresses = (await Promise.all(TYPES.map((type) => this.#resolve(name, type)))).flat()
      const refusal = refusalOf(addresses)
      this.#cache.set(name, { untilMs: nowMs + CACHE_MS, refusal })
      return refusal
    } catch {
      return 'the destination name could not be resolved'
    }
  }

  async #resolve(name: string, type: string): Promise<readonly string[]> {
    const url = `${this.#settings.PIPELINE_RESOLVER}?name=${encodeURIComponent(name)}&type=${type}`
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), TIMEOUT_MS)
    try {
      const fetcher = this.#fetch
      const response = await fetcher(url, { headers: { accept: 'application/dns-json' }, signal: late.signal })
      const text = (await response.text()).slice(0, RESPONSE_MAX_BYTES)
      if (!response.ok) throw new Error(`${response.status}`)
      const { Answer: answers } = DnsResponse.parse(JSON.parse(text))
      return answers.filter((one) => CODES.includes(one.type)).map(({ data }) => data)
    } finally {
      clearTimeout(timer)
    }
  }
}

function refusalOf(addresses: readonly string[]): string | null {
  if (addresses.length === 0) return 'the destination name has no address'
  return addresses.every(isPublicAddress) ? null : PRIVATE_MESSAGE
}
