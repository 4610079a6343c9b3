// Data that one client proved to have read, and how late it reads. The platform does not expose the queue length (there is
// no bufferedAmount), and a client's frames prove only that it is alive. So a pong carries a nonce that only its reader
// knows, and the next ping returns it.
//
// A client returns the nonce of the last pong that it read. A ping that returns an old nonce therefore proves that the
// next pong was unread when the ping was sent, and so was everything after that pong. Invariants: a proof covers exactly
// the data sent before its pong; `lateMs` never exceeds the age of the oldest unread frame.

/** A client that sent a proof within this time counts as a proving client. */
const PROOF_TTL_MS = 60_000
/** Maximum number of outstanding nonces. A ping beyond this limit gets the newest nonce again, which proves less. */
const MAX_MARKS = 16
/** Bulk data is fetched and sent within this time after it was admitted. */
const BULK_MS = 5_000

export class ReadProofs {
  /** Pongs whose nonces were not returned, oldest first. `sent`: offset of the data before the pong. */
  #marks: { readonly nonce: string; readonly sent: number; readonly atMs: number }[] = []
  /** The last nonce that the client returned. */
  #returned: string | null = null
  #provedMs = Number.NEGATIVE_INFINITY
  /** When bulk data was last admitted; null if it has all been counted. */
  #bulkMs: number | null = null
  /** Offset at the end of the last bulk data. */
  #bulkUpTo = 0
  /** Time of the ping that proved the last bulk data. */
  #liveFromMs = Number.NEGATIVE_INFINITY
  /** Offset up to which data is proved read. */
  upTo = 0
  /** Least age of the oldest unread frame at the last ping; 0 if no frame is known to be unread. */
  lateMs = 0

  isProving(nowMs: number): boolean {
    return nowMs - this.#provedMs < PROOF_TTL_MS
  }

  /** A snapshot, resumed blocks or a replay may be sent now. Reading these may take long and does not count as late. */
  onBulk(nowMs: number): void {
    this.#bulkMs = nowMs
  }

  /** Handles a nonce from the client, which may be a proof. `sent`: offset of the data sent so far. */
  onNonce(nonce: string, sent: number, nowMs: number): void {
    this.#countBulk(sent, nowMs)
    const mark = this.#marks.find((one) => one.nonce === nonce)
    if (mark) {
      this.upTo = mark.sent
      this.#marks.splice(0, this.#marks.indexOf(mark) + 1)
      this.#returned = nonce
      // Old nonces say nothing about later data.
      if (nowMs - mark.atMs < PROOF_TTL_MS) this.#provedMs = nowMs
    }
    if (nonce === this.#returned) this.lateMs = this.#ageMs(nowMs)
  }

  /** Returns the nonce to send now: `fresh`, or an older one. */
  nextNonce(fresh: string, sent: number, nowMs: number): string {
    const last = this.#marks[MAX_MARKS - 1]
    if (last) return last.nonce
    this.#marks.push({ nonce: fresh, sent, atMs: nowMs })
    return fresh
  }

  #countBulk(sent: number, nowMs: number): void {
    if (this.#bulkMs !== null) {
      this.#bulkUpTo = sent
      if (nowMs - this.#bulkMs > BULK_MS) this.#bulkMs = null
    }
    if (this.upTo < this.#bulkUpTo) this.#liveFromMs = nowMs
  }

  #ageMs(nowMs: number): number {
    const [oldest] = this.#marks
    return oldest ? nowMs - Math.max(oldest.atMs, this.#liveFromMs) : 0
  }
}
