// What a client of one socket proves to have read: each ping returns the nonce of the last pong (WS-60).

import { LIMITS } from './connection-options.ts'

/** Characters. */
const LARGE = 1024 * 1024

export class Proofs {
  #nonce = ''
  /** Characters that came since the last ping, and whether its pong did. */
  #unproved = 0
  #isPonged = true
  /** The last ping followed so much that its pong is answered at once: one large text may wait for the proof of another. */
  #isLarge = false

  /** True where no pong is on its way. */
  get isPonged(): boolean {
    return this.#isPonged
  }

  came(chars: number): void {
    this.#unproved += chars
  }

  /** True where so much came that it is to be proved. */
  get isDue(): boolean {
    return this.#isPonged && this.#unproved >= LIMITS.proveEvery
  }

  ping(): { readonly method: 'ping'; readonly nonce: string } {
    this.#isPonged = false
    this.#isLarge = this.#unproved >= LARGE
    this.#unproved = 0
    return { method: 'ping', nonce: this.#nonce }
  }

  ponged(nonce = ''): void {
    this.#isPonged = true
    this.#nonce = nonce
    if (this.#isLarge) this.#unproved = LIMITS.proveEvery
  }
}
