// What a client of one socket proves to have read: each ping returns the nonce of the last pong (WS-60). Pings go out every
// while, behind so much that came, and once more where one was refused.

import type { After } from '../core/deadline.ts'
import { LIMITS } from './connection-options.ts'

/** Characters. */
const LARGE = 1024 * 1024

export class Proofs {
  readonly #after: After
  readonly #send: (ping: { readonly method: 'ping'; readonly nonce: string }) => void
  #nonce = ''
  /** Characters that came since the last ping, and of those before it what its pong is to prove. */
  #unproved = 0
  #asked = 0
  /** True where no pong is on its way. */
  isPonged = true
  #stopNext = () => {}
  #stopAgain: (() => void) | null = null

  constructor(after: After, send: (ping: { readonly method: 'ping'; readonly nonce: string }) => void) {
    this.#after = after
    this.#send = send
  }

  every(ms: number): void {
    this.#stopNext = this.#after(ms, () => {
      this.ping()
      this.every(ms)
    })
  }

  stop(): void {
    this.#stopNext()
    this.#stopAgain?.()
  }

  came(chars: number): void {
    this.#unproved += chars
  }

  /** Pings where so much came that it is to be proved, and no pong is on its way. */
  prove(): void {
    if (this.isPonged && this.#unproved >= LIMITS.proveEvery) this.ping()
  }

  ping(): void {
    this.isPonged = false
    this.#asked = this.#unproved
    this.#unproved = 0
    this.#send({ method: 'ping', nonce: this.#nonce })
  }

  pingAgain(): void {
    this.#stopAgain ??= this.#after(LIMITS.againMs, () => {
      this.#stopAgain = null
      this.ping()
    })
  }

  ponged(nonce = ''): void {
    this.isPonged = true
    this.#nonce = nonce
    // It is answered at once where it followed so much: one large text may wait for the proof of another.
    if (this.#asked >= LARGE) this.#unproved = LIMITS.proveEvery
  }

  /** A frame was refused for its rate, and no refusal names pings: it may have been the last. */
  refused(): void {
    if (this.isPonged) return
    this.#unproved += this.#asked
    this.#asked = 0
    this.pingAgain()
  }
}
