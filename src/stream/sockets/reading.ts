// What one socket was sent and has not shown to have read. The platform cannot say how much of it waits in its queue:
// there is no bufferedAmount, and a client's frames prove that it lives, not that it reads. So a client may prove it: a
// pong carries a nonce that only its reader knows, the next ping returns it. Laws: a proof covers what was sent before
// its pong and nothing later; what an account and the relay count is the sum of their sockets; `sending` is O(1).

/** Who has proved to read within this time is taken for one who does. */
const PROOF_HOLDS_MS = 60_000
/** Nonces that may be on their way; a ping beyond them is answered with the newest once more, which proves less. */
const MAX_MARKS = 16
/** Snapshot bytes on their way to a socket that proves; the next go out as proofs come. */
const WINDOW_BYTES = 768 * 1024
/** A text of which one at a time is on its way from a relay. */
export const LARGE_BYTES = 8 * 1024 * 1024
/** After so long a proof may have come. */
const ASK_AGAIN_MS = 50

/** What its account counts: AccountUnread. */
interface Counted {
  sending(bytes: number): void
  grow(bytes: number): void
  readonly isOver: boolean
  readonly share: number
  roomInMs(bytes: number, nowMs: number): number
  canHold(bytes: number): boolean
  largeSent(reading: Reading): void
  isOpen(reading: Reading): boolean
  left(reading: Reading): void
  gone(reading: Reading): void
}

/** Of one socket. Lengths are UTF-16 units, which equal bytes for all but odd names. */
export class Reading {
  readonly #account: Counted
  #marks: { readonly nonce: string; readonly sent: number; readonly atMs: number }[] = []
  #sent = 0
  /** Up to where it is proved, or presumed, to be read. */
  #settled = 0
  /** Up to where it was sent a large text last. */
  #largeUpTo = 0
  #provedMs = Number.NEGATIVE_INFINITY
  /** Ends the socket. */
  readonly cut: () => void

  constructor(account: Counted, cut: () => void) {
    this.#account = account
    this.cut = cut
  }

  get bytes(): number {
    return this.#sent - this.#settled
  }

  /** A large text is on its way to it. */
  get isLarge(): boolean {
    return this.#settled < this.#largeUpTo
  }

  isProving(nowMs: number): boolean {
    return nowMs - this.#provedMs < PROOF_HOLDS_MS
  }

  /** Counts a text about to be sent; false where the socket must go instead. */
  sending(length: number): boolean {
    this.#sent += length
    this.#account.sending(length)
    if (length > LARGE_BYTES) {
      this.#largeUpTo = this.#sent
      this.#account.largeSent(this)
    }
    return !this.#account.isOver || this.bytes <= this.#account.share
  }

  /** A ping with a nonce: takes the proof in it, where it is one. Answers the pong's nonce, `fresh` or an older one. */
  pinged(nonce: string, fresh: string, nowMs: number): string {
    const index = this.#marks.findIndex((mark) => mark.nonce === nonce)
    if (index >= 0) {
      const { sent, atMs } = this.#marks[index]!
      this.settle(sent - this.#settled)
      this.#marks.splice(0, index + 1)
      // Nonces that were laid by say nothing of what came after them.
      if (nowMs - atMs < PROOF_HOLDS_MS) this.#provedMs = nowMs
    }
    if (this.#marks.length >= MAX_MARKS) return this.#marks.at(-1)!.nonce
    this.#marks.push({ nonce: fresh, sent: this.#sent, atMs: nowMs })
    return fresh
  }

  /** So many bytes more are read; answers how many it had. Of a socket that was closed nothing is taken back. */
  settle(bytes: number): number {
    if (!this.#account.isOpen(this)) return 0
    const settled = Math.max(0, Math.min(bytes, this.bytes))
    this.#settled += settled
    this.#account.grow(-settled)
    return settled
  }

  /** How long a Snapshot of so many bytes has to wait, in ms: 0 not at all, Infinity: it never can. Then ask again. */
  snapshotWaitMs(bytes: number, nowMs: number): number {
    const waitMs = this.#account.roomInMs(bytes, nowMs)
    if (!this.isProving(nowMs)) return waitMs
    if (!this.#account.canHold(bytes)) return Number.POSITIVE_INFINITY
    // Live changes are always on their way, so that a book larger than the window would wait for ever for an empty one.
    const fits = this.bytes <= WINDOW_BYTES / 2 || this.bytes + bytes <= WINDOW_BYTES
    return fits && waitMs === 0 ? 0 : ASK_AGAIN_MS
  }

  /** We have closed the socket: what the client did not read stays in memory until it closes too. */
  left(): void {
    this.#account.left(this)
  }

  /** The platform says that the socket is no more, and has let go of what it held. */
  gone(): void {
    this.#account.gone(this)
  }
}
