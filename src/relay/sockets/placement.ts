// Assigns an account to the relays of a region. Each account has its own order of the relays (rendezvous hashing) and
// takes the next one only while the previous one is full. So one account's load affects few others. Invariants: adding
// or removing a relay moves only its own accounts, accounts spread evenly, and memory is bounded.

import { BoundedMap } from '../../core/bounded-map.ts'
import { hash32 } from '../../core/hash.ts'
import type { AccountId } from '../../core/ids.ts'

/** Replaces the identity for a socket whose key comes later. Value: the caller's address, or empty if unknown. */
export const GUEST_HEADER = 'x-weir-guest'
/** `heavy` is for accounts that receive a lot of data and do not confirm that they read it. */
export type Pool = 'light' | 'heavy'

/** Relays with this number or a higher one are heavy. There are as many heavy relays as light ones. */
const HEAVY_FROM = 1000
/** How long a full relay is skipped, and how long an account stays on heavy relays. */
const FULL_MS = 2000
const HEAVY_MS = 60_000
const MAX_REMEMBERED = 10_000

/** Relay numbers of a pool in the account's order. */
export function relayOrder(account: AccountId, pool: Pool, count: number): number[] {
  const first = pool === 'heavy' ? HEAVY_FROM : 0
  return Array.from({ length: count }, (_, index) => first + index)
    .map((index) => ({ index, weight: hash32(`${account}/${index}`) }))
    .sort((a, b) => b.weight - a.weight || a.index - b.index)
    .map(({ index }) => index)
}

/** The pool of a relay, from the number at the end of its name. */
export function poolOf(name: string): Pool {
  return Number(name.slice(name.lastIndexOf('/') + 1)) >= HEAVY_FROM ? 'heavy' : 'light'
}

/** Recent refusals by relays, per isolate. */
export class RelayRefusals {
  /** Expiry times of full relays and heavy accounts by a unique name. */
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
