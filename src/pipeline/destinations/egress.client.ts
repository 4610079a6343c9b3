// Whether something may be sent to a host: names are resolved first, by DNS over HTTPS, since a Worker has no resolver of its own.
// Between the question and the connection a name may come to mean something else: on Cloudflare private addresses are out of
// reach then too; on a machine of one's own, forbid them to workerd's network besides.

import { BoundedMap } from '../../core/bounded-map.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { bareHost, hostKind, isPublicAddress } from './egress.ts'

const KEPT_MS = 60_000
const PATIENCE_MS = 5_000
const NAMES_MOST = 256
const ANSWER_BYTES = 16 * 1024
const TYPES = ['A', 'AAAA'] as const
/** Of answers: IPv4 and IPv6 addresses; the rest are names on the way. */
const CODES = [1, 28]

/** One at least, or why none. */
type Addresses = Result<readonly string[], string>

const PRIVATE = 'the destination is a private address: the operator allows those with PIPELINE_PRIVATE=on'

export class Egress {
  readonly #isPrivateAllowed: boolean
  readonly #resolver: string
  readonly #fetch: typeof fetch
  readonly #known = new BoundedMap<string, { readonly untilMs: number; readonly addresses: Addresses }>(NAMES_MOST)
  /** So that of several addresses each has its turn. */
  #turns = 0

  constructor(isPrivateAllowed: boolean, resolver: string, fetcher: typeof fetch = fetch) {
    this.#isPrivateAllowed = isPrivateAllowed
    this.#resolver = resolver
    this.#fetch = fetcher
  }

  /** Null, or why nothing may be sent there. `isSafe`: what is sent is encrypted. */
  async refusal(hostname: string, isSafe: boolean): Promise<string | null> {
    const addresses = await this.#addresses(hostname, isSafe)
    return addresses.ok ? null : addresses.error
  }

  /** An address that was checked, to connect to; where private ones are allowed, the name itself. */
  async address(hostname: string): Promise<Result<string, string>> {
    const addresses = await this.#addresses(hostname, true)
    return addresses.ok ? ok(addresses.value[this.#turns++ % addresses.value.length]!) : addresses
  }

  async #addresses(hostname: string, isSafe: boolean): Promise<Addresses> {
    const host = bareHost(hostname)
    if (this.#isPrivateAllowed) return ok([host])
    if (!isSafe) return err('the destination must be reached by TLS: use https')
    const kind = hostKind(hostname)
    if (kind === 'private') return err(PRIVATE)
    return kind === 'public' ? ok([host]) : this.#ofName(host)
  }

  async #ofName(name: string): Promise<Addresses> {
    const nowMs = Date.now()
    const known = this.#known.get(name)
    if (known && known.untilMs > nowMs) return known.addresses
    try {
      const [four, six] = await Promise.all(TYPES.map((type) => this.#resolved(name, type)))
      const addresses = allowed(four!, six!)
      this.#known.set(name, { untilMs: nowMs + KEPT_MS, addresses })
      return addresses
    } catch {
      return err('the name of the destination could not be resolved')
    }
  }

  async #resolved(name: string, type: string): Promise<readonly string[]> {
    const url = `${this.#resolver}?name=${encodeURIComponent(name)}&type=${type}`
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), PATIENCE_MS)
    try {
      const fetcher = this.#fetch
      const response = await fetcher(url, { headers: { accept: 'application/dns-json' }, signal: late.signal })
      const text = (await response.text()).slice(0, ANSWER_BYTES)
      if (!response.ok) throw new Error(`${response.status}`)
      const { Answer: answers = [] } = JSON.parse(text) as { Answer?: { type: number; data: string }[] }
      return answers.filter((one) => CODES.includes(one.type)).map(({ data }) => data)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Those of IPv4 where there are any: not every network has the other. */
function allowed(four: readonly string[], six: readonly string[]): Addresses {
  if (four.length + six.length === 0) return err('the name of the destination has no address')
  if (![...four, ...six].every(isPublicAddress)) return err(PRIVATE)
  return ok(four.length > 0 ? four : six)
}
