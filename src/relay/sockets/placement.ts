// Which relays of a region an account is sent to. Each account has an order of its own over the same relays (rendezvous
// hashing), and takes the next only while the one before is full: two accounts share their first relay by chance alone,
// so what one does is felt by few. Laws: the order does not change but for a relay that is added or taken away; accounts
// spread evenly; what is remembered is bounded.

import { BoundedMap } from '../../core/bounded-map.ts'
import { hash32 } from '../../core/hash.ts'
import type { AccountId } from '../../core/ids.ts'

/** In the place of the identity, for a socket whose key comes later: the caller's address, empty where it is not known. */
export const GUEST_HEADER = 'x-weir-guest'
/** `heavy`: for accounts that are sent much and do not prove that they read it. */
export type Pool = 'light' | 'heavy'

/** Relays from this number on are the heavy ones: as many as there are others. */
const HEAVY_FROM = 1000
/** How long a relay that said that it is full is passed over, and an account stays with the heavy ones. */
const FULL_MS = 2000
const HEAVY_MS = 60_000
const MAX_REMEMBERED = 10_000

/** Numbers of the relays of a pool in the account's order. */
export function relayOrder(account: AccountId, pool: Pool, count: number): number[] {
  const first = pool === 'heavy' ? HEAVY_FROM : 0
  return Array.from({ length: count }, (_, index) => first + index)
    .map((index) => ({ index, weight: hash32(`${account}/${index}`) }))
    .sort((a, b) => b.weight - a.weight || a.index - b.index)
    .map(({ index }) => index)
}

/** The pool of the relay with this name, which ends with its number. */
export function poolOf(name: string): Pool {
  return Number(name.slice(name.lastIndexOf('/') + 1)) >= HEAVY_FROM ? 'heavy' : 'light'
}

/** What an isolate remembers of relays that refused. */
export class RelayRefusals {
  /** Relays that are full and accounts that are heavy, by a name that tells them apart, with until when. */
  readonly #untilMs = new BoundedMap<string, number>(MAX_REMEMBERED)

  markFull(region: string, index: number, nowMs: number): void {
    this.#untilMs.set(`full ${region}/${index}`, nowMs + FULL_MS)
  }

  isFull(region: string, index: number, nowMs: number): boolean {
    return this.#isCurrent(`full ${region}/${index}`, nowMs)
  }

  markHeavy(account: AccountId, nowMs: number): void {
    this.#untilMs.set(`heavy ${account}`, nowMs + HEAVY_MS)
  }

  pool(account: AccountId, nowMs: number): Pool {
    return this.#isCurrent(`heavy ${account}`, nowMs) ? 'heavy' : 'light'
  }

  #isCurrent(name: string, nowMs: number): boolean {
    return (this.#untilMs.get(name) ?? 0) > nowMs
  }
}
