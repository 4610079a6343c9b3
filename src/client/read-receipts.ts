// Proves to the gateway what this socket has read: each ping contains the nonce of the last pong (WS-60). A ping is
// sent periodically, after a certain amount of data, and again after a rejection.

import type { After } from '../core/deadline.ts'
import { LIMITS } from './connection-options.ts'

/** Characters that count as a large amount of data. */
const LARGE_CHARS = 1024 * 1024

export class ReadReceipts {
  readonly #after: After
  readonly #send: (ping: { readonly method: 'ping'; readonly nonce: string }) => void
  #nonce = ''
  /** Characters that arrived since the last ping. `#pingedChars`: characters that the pending pong will prove. */
  #unreadChars = 0
  #pingedChars = 0
  /** Whether no pong is pending. */
  isPonged = true
  #stopNext = () => {}
  #stopResend: (() => void) | null = null

  constructor(after: After, send: (ping: { readonly method: 'ping'; readonly nonce: string }) => void) {
    this.#after = after
    this.#send = send
  }

  start(ms: number): void {
    this.#stopNext = this.#after(ms, () => {
      this.ping()
      this.start(ms)
    })
  }

  stop(): void {
    this.#stopNext()
    this.#stopResend?.()
  }

  onText(chars: number): void {
    this.#unreadChars += chars
  }

  /** Sends a ping if enough unproved data has arrived and no pong is pending. */
  pingIfDue(): void {
    if (this.isPonged && this.#unreadChars >= LIMITS.proveEvery) this.ping()
  }

  ping(): void {
    this.isPonged = false
    this.#pingedChars = this.#unreadChars
    this.#unreadChars = 0
    this.#send({ method: 'ping', nonce: this.#nonce })
  }

  resendPing(): void {
    this.#stopResend ??= this.#after(LIMITS.againMs, () => {
      this.#stopResend = null
      this.ping()
    })
  }

  onPong(nonce = ''): void {
    this.isPonged = true
    this.#nonce = nonce
    // After this much data, send the next ping at once, because another large frame may wait for the proof.
    if (this.#pingedChars >= LARGE_CHARS) this.#unreadChars = LIMITS.proveEvery
  }

  /**
   * Handles the rejection of a frame by the rate limit. The error does not name the frame, which may have been the last
   * ping.
   */
  onRejected(): void {
    if (this.isPonged) return
    this.#unreadChars += this.#pingedChars
    this.#pingedChars = 0
    this.resendPing()
  }
}
