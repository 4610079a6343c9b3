// What requests that wait hold of a relay's memory, by the length of their texts: they come as fast as a client can
// send, and wait for hubs, the meter and their turns. Laws: all together have a bound, an account a quarter of it; what
// was taken is given back.

import type { AccountId } from '../../core/ids.ts'

/** Parsed and written again they take up to eight times as much. */
const RELAY_CHARS = 8 * 1024 * 1024
const ACCOUNT_CHARS = RELAY_CHARS / 4
/** What the shortest one takes beside its text. */
const OVERHEAD_CHARS = 512

export class Backlog {
  readonly #byAccount = new Map<string, number>()
  #chars = 0

  /** Takes room for a text; the answer, called once, gives it back. Null where there is none. */
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
