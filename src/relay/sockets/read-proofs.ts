// Data that one client proved to have read, and how late it reads. The platform does not expose the queue length (there is
// no bufferedAmount), and a client's frames prove only that it is alive. So a pong carries a nonce that only its reader
// knows, and the next ping returns it.
//
// A client returns the nonce of the last pong that it read. A ping that returns an old nonce therefore proves that the
// next pong was unread when the ping was sent, and so was everything after that pong. Invariants: a proof covers exactly
// the data sent before its pong; `lateMs` never exceeds the age of the oldest unread frame. Ages are those of a
// RunningClock, because a ping that waited for the relay proves what was unread when it was sent, not when it is handled.

/** A client that sent a proof within this time counts as a proving client. */
const PROOF_TTL_MS = 60_000
/** Maximum number of outstanding nonces. A ping beyond this limit gets the newest nonce again, which proves less. */
const MAX_MARKS = 16
/** Bulk data is fetched and sent within this time after it was admitted. */
const BULK_MS = 5_000
/** The same for bulk data of which no frame of about the expected size was sent. */
const MAX_BULK_MS = 30_000

/** A relay runs tasks at least this often while it sends data. */
export const MAX_PAUSE_MS = 5_000

/** `runningMs`: time during which the relay ran, without longer pauses and steps of the system's clock. */
export interface RelayTime {
  readonly nowMs: number
  readonly runningMs: number
}

/** Measures how long a relay ran. */
export class RunningClock {
  #lastMs: number
  #runningMs = 0

  constructor(nowMs: number) {
    this.#lastMs = nowMs
  }

  /** Call it at least every few seconds. */
  at(nowMs: number): RelayTime {
    this.#runningMs += Math.min(Math.max(0, nowMs - this.#lastMs), MAX_PAUSE_MS)
    this.#lastMs = nowMs
    return { nowMs, runningMs: this.#runningMs }
  }
}

export class ReadProofs {
  /** Pongs whose nonces were not returned, oldest first. `sent`: offset of the data before the pong. */
  #marks: { readonly nonce: string; readonly sent: number; readonly at: RelayTime }[] = []
  /** The last nonce that the client returned. */
  #returned: string | null = null
  #provedMs = Number.NEGATIVE_INFINITY
  /** Running time when bulk data was last admitted; null if it has all been counted. */
  #bulkMs: number | null = null
  /** Size of a frame that is taken for the admitted data; Infinity if such a frame was sent. */
  #bulkFrame = Number.POSITIVE_INFINITY
  /** Offset at the end of the last bulk data. */
  #bulkUpTo = 0
  /** Running time of the ping that proved the last bulk data. */
  #liveFromMs = Number.NEGATIVE_INFINITY
  /** Offset up to which data is proved read. */
  upTo = 0
  /** Least age of the oldest unread frame at the last ping; 0 if no frame is known to be unread. */
  lateMs = 0

  isProving(nowMs: number): boolean {
    return nowMs - this.#provedMs < PROOF_TTL_MS
  }

  /**
   * A snapshot, resumed blocks or a replay of about this size may be sent now. Reading these may take long and does not
   * count as late.
   */
  onBulk(bytes: number, { runningMs }: RelayTime): void {
    this.#bulkMs = runningMs
    this.#bulkFrame = bytes / 2
  }

  /** Handles a frame. `sent`: offset at its end. */
  onFrame(length: number, sent: number): void {
    if (length < this.#bulkFrame) return
    this.#bulkFrame = Number.POSITIVE_INFINITY
    this.#bulkUpTo = sent
  }

  /** Handles a nonce from the client, which may be a proof. `sent`: offset of the data sent so far. */
  onNonce(nonce: string, sent: number, { nowMs, runningMs }: RelayTime): void {
    this.#countBulk(sent, runningMs)
    const mark = this.#marks.find((one) => one.nonce === nonce)
    if (mark) {
      this.upTo = mark.sent
      this.#marks.splice(0, this.#marks.indexOf(mark) + 1)
      this.#returned = nonce
      // Old nonces say nothing about later data.
      if (nowMs - mark.at.nowMs < PROOF_TTL_MS) this.#provedMs = nowMs
    }
    if (nonce === this.#returned) this.lateMs = this.#ageMs(runningMs)
  }

  /** Returns the nonce to send now: `fresh`, or an older one. */
  nextNonce(fresh: string, sent: number, at: RelayTime): string {
    const last = this.#marks[MAX_MARKS - 1]
    if (last) return last.nonce
    this.#marks.push({ nonce: fresh, sent, at })
    return fresh
  }

  #countBulk(sent: number, runningMs: number): void {
    if (this.#bulkMs !== null) {
      this.#bulkUpTo = sent
      const isSent = this.#bulkFrame === Number.POSITIVE_INFINITY
      if (runningMs - this.#bulkMs > (isSent ? BULK_MS : MAX_BULK_MS)) this.#endBulk()
    }
    if (this.upTo < this.#bulkUpTo) this.#liveFromMs = runningMs
  }

  #endBulk(): void {
    this.#bulkMs = null
    this.#bulkFrame = Number.POSITIVE_INFINITY
  }

  #ageMs(runningMs: number): number {
    const [oldest] = this.#marks
    return oldest ? runningMs - Math.max(oldest.at.runningMs, this.#liveFromMs) : 0
  }
}
