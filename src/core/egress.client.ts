// Whether something may be sent to a host: names are resolved first, by DNS over HTTPS, since a Worker has no resolver of its own.
// Between the question and the connection a name may come to mean something else: on Cloudflare private addresses are out of
// reach then too; on a machine of one's own, forbid them to workerd's network besides.

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
/** Of answers: IPv4 and IPv6 addresses; the rest are names on the way. */
const CODES = [1, 28]
const DnsResponse = z.object({ Answer: z.array(z.object({ type: z.number(), data: z.string() })).default([]) })

const OWN_HOST_MESSAGE = 'the destination is a host of this service itself'
const PRIVATE_MESSAGE = 'the destination is a private address: the operator allows those with PIPELINE_PRIVATE=on'

/** Why the URL of a destination or webhook is refused, as far as it tells without its name being resolved; null: it is not. */
export function urlRefusal(url: string, settings: UrlSettings): string | null {
  // Only in schemes of the web numbers in other bases are addresses to the parser, and they are to most that connect.
  const host = URL.parse(url.replace(/^postgres(?:ql)?:/i, 'https:'))?.hostname
  if (host !== undefined && isWithin(host, ownDomains(settings))) return 'must not be a host of this service itself'
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

  /** Null, or why nothing may be sent there. `isSafe`: what is sent is encrypted. */
  async refusal(hostname: string, isSafe: boolean): Promise<string | null> {
    if (isWithin(hostname, this.#ownDomains)) return OWN_HOST_MESSAGE
    if (this.#settings.PIPELINE_PRIVATE) return null
    if (!isSafe) return 'the destination must be reached by TLS: use https'
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
      return 'the name of the destination could not be resolved'
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
  if (addresses.length === 0) return 'the name of the destination has no address'
  return addresses.every(isPublicAddress) ? null : PRIVATE_MESSAGE
}
