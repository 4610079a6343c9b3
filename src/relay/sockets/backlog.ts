// Limits the memory of pending requests, measured by their length. Requests arrive as fast as a client can send, and
// wait for hubs, the meter and their turn. Invariants: the total is bounded, an account has at most a quarter of it,
// and every reservation is released.

import type { AccountId } from '../../core/ids.ts'

/** Limit for all requests. Parsing and serializing a request takes up to eight times its length. */
const RELAY_CHARS = 8 * 1024 * 1024
const ACCOUNT_CHARS = RELAY_CHARS / 4
/** Memory that the shortest request needs in addition to its own characters. */
const OVERHEAD_CHARS = 512

export class Backlog {
  readonly #byAccount = new Map<string, number>()
  #chars = 0

  /** Reserves room for a request. Returns a function to call once to release it, or null if there is no room. */
  reserve(account: AccountId, length: number): (() => void) | null {
    const chars = length + OVERHEAD_CHARS
    const own = this.#byAccount.get(account) ?? 0
    if (own + chars > ACCOUNT_CHARS || this.#chars + chars > RELAY_CHARS) return null
    this.#add(account, chars)
    return () => this.#add(account, -chars)
  }

  #add(account: AccountId, chars: number): void {
    this.#chars += chars
    const own = (this.#byAccount.get(account) ?? 0) + chars
    if (own > 0) this.#byAccount.set(account, own)
    else this.#byAccount.delete(account)
  }
}
