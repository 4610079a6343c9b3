// What a client of one socket proves to have read: each ping returns the nonce of the last pong (WS-60). Pings go out every
// while, behind so much that came, and once more where one was refused.

import type { After } from '../core/deadline.ts'
import { LIMITS } from './connection-options.ts'

/** Characters. */
const LARGE_CHARS = 1024 * 1024

export class ReadReceipts {
  readonly #after: After
  readonly #send: (ping: { readonly method: 'ping'; readonly nonce: string }) => void
  #nonce = ''
  /** Characters that came since the last ping, and of those before it what its pong is to prove. */
  #unreadChars = 0
  #pingedChars = 0
  /** True where no pong is on its way. */
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

  /** Pings where so much came that it is to be proved, and no pong is on its way. */
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
    // It is answered at once where it followed so much: one large text may wait for the proof of another.
    if (this.#pingedChars >= LARGE_CHARS) this.#unreadChars = LIMITS.proveEvery
  }

  /** A frame was refused for its rate, and no refusal names pings: it may have been the last. */
  onRejected(): void {
    if (this.isPonged) return
    this.#unreadChars += this.#pingedChars
    this.#pingedChars = 0
    this.resendPing()
  }
}
