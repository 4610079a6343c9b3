// What a relay has sent that nobody has shown to have read, by account: its bound on memory that the platform hides.
// Laws: sockets of an account hold at most twice its bound here, beside what is presumed to be read; a relay holds at most
// its watermark and what may be left. Beyond that it closes sockets, those of the largest account first.
//
// An honest client without proofs and one that never reads look the same. So a client without proofs is presumed to
// read at a rate, until it leaves a close unanswered, and one that needs more moves to relays for heavy ones, which are
// the only ones it can harm.

import { BoundedMap } from '../../core/bounded-map.ts'

const MIB = 1024 * 1024

/** Bounds of an account at one relay. */
export interface UnreadRules {
  /** What its sockets here may have unread, together. */
  readonly bytes: number
  /** Read without proof, by all of them together. */
  readonly presumedPerSecond: number
  /** Where it finds other relays when it needs more. */
  readonly canMove: boolean
}

/** A whole wildcard of Snapshots does not fit: who takes one without proofs is sent to the heavy ones at once. */
export const LIGHT: UnreadRules = { bytes: 16 * MIB, presumedPerSecond: 32 * 1024, canMove: true }
/** One wildcard of Snapshots (25 MB) fits, and two of live changes (181 KB/s each) for ever. */
export const HEAVY: UnreadRules = { bytes: 32 * MIB, presumedPerSecond: 512 * 1024, canMove: false }

/** Of 128 MB; what the relay itself needs is about 25 MB. */
export const WATERMARK_BYTES = 40 * MIB
/** On sockets that we closed and their clients have not. */
export const MAX_STRANDED_BYTES = 40 * MIB
/** Snapshots leave this part of an account's bound, and of the watermark, to live changes. */
const SNAPSHOT_SHARE = 7 / 8
/** A Snapshot that would wait longer is to be had sooner elsewhere. */
const MAX_WAIT_MS = 10_000
const RECHECK_MS = 250
/** One that does not read keeps no large Snapshot of others waiting for longer: the watermark bounds what is unread. */
const LARGE_HOLD_MS = 30_000
/** How long an account that moved is sent on, and how many are kept in mind. */
const MOVED_TTL_MS = 3_600_000
const MAX_MOVED = 10_000

/** Who has proved to read within this time is taken for one who does. */
const PROOF_TTL_MS = 60_000
/** Nonces that may be on their way; a ping beyond them is answered with the newest once more, which proves less. */
const MAX_MARKS = 16
/** Snapshot bytes on their way to a socket that proves; the next go out as proofs come. */
const WINDOW_BYTES = 768 * 1024
/** A text of which one at a time is on its way from a relay. */
const LARGE_BYTES = 8 * 1024 * 1024
/** After so long a proof may have come. */
const PROVING_RECHECK_MS = 50

export class RelayUnread {
  readonly rules: UnreadRules
  readonly #accounts = new Map<string, AccountUnread>()
  /** Accounts to be sent on, with until when. */
  readonly #moved = new BoundedMap<string, number>(MAX_MOVED)
  /** The socket that was sent a large text last, and when another one was first to wait for it. */
  #large: SocketUnread | null = null
  #largeBlockedSinceMs: number | null = null
  /** All bytes that were ever sent. */
  sent = 0
  /** Bytes of open sockets that are unread. */
  live = 0
  /** Of sockets that we closed and their clients have not. */
  strandedBytes = 0
  #presumedMs: number

  /** `moved`: what `toMove` of an earlier life answered. */
  constructor(rules: UnreadRules, nowMs: number, moved: readonly (readonly [string, number])[] = []) {
    this.rules = rules
    this.#presumedMs = nowMs
    for (const [name, untilMs] of moved) this.#moved.set(name, untilMs)
  }

  /** A socket came; `cut` ends it. */
  add(name: string, cut: () => void): SocketUnread {
    const known = this.#accounts.get(name)
    if (known) return known.add(cut)
    // The end of a socket may be told twice, and another of its account have come in between.
    const account: AccountUnread = new AccountUnread(this, () => {
      if (this.#accounts.get(name) === account) this.#accounts.delete(name)
    })
    this.#accounts.set(name, account)
    return account.add(cut)
  }

  /** An account needs more than it may have here: from now on it is sent on. */
  markMoved(name: string, nowMs: number): void {
    if (this.rules.canMove) this.#moved.set(name, nowMs + MOVED_TTL_MS)
  }

  /** Those who are sent on, with until when; who has left much unread is among them. */
  movedAccounts(nowMs: number): [string, number][] {
    for (const [name, account] of this.#accounts) if (account.strandedBytes > 0) this.markMoved(name, nowMs)
    return [...this.#moved.entries()].filter(([, untilMs]) => untilMs > nowMs)
  }

  /** True where no socket of this account may come in. */
  isRefused(name: string, nowMs: number): boolean {
    const moved = this.#moved.get(name)
    return (moved !== undefined && moved > nowMs) || this.hasStranded(name)
  }

  /** True where too much of an account is unread on sockets that we closed and it did not. */
  hasStranded(name: string): boolean {
    return (this.#accounts.get(name)?.strandedBytes ?? 0) > this.rules.bytes / 2
  }

  /** To be called every few seconds: what is presumed to be read since. */
  presumeRead(nowMs: number): void {
    const bytes = (Math.max(0, nowMs - this.#presumedMs) / 1000) * this.rules.presumedPerSecond
    this.#presumedMs = nowMs
    for (const account of this.#accounts.values()) account.presumeRead(Math.floor(bytes), nowMs)
  }

  /** Above the watermark, cuts the larger half of the largest account, until it is not. */
  enforceWatermark(): void {
    while (this.live > WATERMARK_BYTES) {
      let largest: AccountUnread | undefined
      for (const account of this.#accounts.values()) if (account.live > (largest?.live ?? 0)) largest = account
      largest?.cutLargest()
    }
  }

  onLargeSent(reading: SocketUnread): void {
    this.#large = reading
    this.#largeBlockedSinceMs = null
  }

  /** Whether another large text has to wait for the last. */
  isLargeBlocked(nowMs: number): boolean {
    if (!this.#large?.isLarge) return false
    this.#largeBlockedSinceMs ??= nowMs
    return nowMs - this.#largeBlockedSinceMs < LARGE_HOLD_MS
  }

  /** One that is closed is read no more. */
  onLargeEnded(reading: SocketUnread): void {
    if (this.#large === reading) this.#large = null
  }

  /** So much is left that only the object's end frees it. */
  get isOverfull(): boolean {
    return this.strandedBytes > MAX_STRANDED_BYTES
  }
}

/** Of one account at one relay. */
export class AccountUnread {
  readonly #relay: RelayUnread
  readonly #onEmpty: () => void
  readonly #open = new Set<SocketUnread>()
  readonly #stranded = new Map<SocketUnread, number>()
  live = 0
  strandedBytes = 0

  constructor(relay: RelayUnread, emptied: () => void) {
    this.#relay = relay
    this.#onEmpty = emptied
  }

  add(cut: () => void): SocketUnread {
    const reading = new SocketUnread(this, cut)
    this.#open.add(reading)
    return reading
  }

  get isOver(): boolean {
    return this.live + this.strandedBytes > this.#relay.rules.bytes
  }

  /** What a socket of an account that is over its bound may have. */
  get share(): number {
    return this.#relay.rules.bytes / (this.#open.size + this.#stranded.size)
  }

  onSend(bytes: number): void {
    this.#relay.sent += bytes
    this.addLive(bytes)
  }

  addLive(bytes: number): void {
    this.live += bytes
    this.#relay.live += bytes
  }

  /** Who proves needs no forgiving; who does not answer a close does not read. */
  presumeRead(bytes: number, nowMs: number): void {
    if (this.live === 0 || this.strandedBytes > 0) return
    let rest = bytes
    for (const reading of this.#open) if (!reading.isProving(nowMs)) rest -= reading.markRead(rest)
  }

  /** How long until a Snapshot of so many bytes fits beside what is unread. */
  roomWaitMs(bytes: number, nowMs: number): number {
    const { rules, live } = this.#relay
    if (bytes > LARGE_BYTES && this.canFit(bytes) && this.#relay.isLargeBlocked(nowMs)) return RECHECK_MS
    const over = this.live + this.strandedBytes + bytes - rules.bytes * SNAPSHOT_SHARE
    if (over <= 0) return live + bytes > WATERMARK_BYTES * SNAPSHOT_SHARE ? RECHECK_MS : 0
    const waitMs = Math.ceil((over / rules.presumedPerSecond) * 1000)
    return rules.canMove && waitMs > MAX_WAIT_MS ? Number.POSITIVE_INFINITY : waitMs
  }

  /** False for what is to be had elsewhere alone. */
  canFit(bytes: number): boolean {
    const { rules } = this.#relay
    return !rules.canMove || bytes <= rules.bytes * SNAPSHOT_SHARE
  }

  onLargeSent(reading: SocketUnread): void {
    this.#relay.onLargeSent(reading)
  }

  isOpen(reading: SocketUnread): boolean {
    return this.#open.has(reading)
  }

  cutLargest(): void {
    const mean = this.live / this.#open.size
    for (const reading of [...this.#open]) {
      if (reading.bytes < mean) continue
      reading.cut()
      this.strand(reading)
    }
  }

  strand(reading: SocketUnread): void {
    if (!this.#open.delete(reading)) return
    const { bytes } = reading
    this.#relay.onLargeEnded(reading)
    this.addLive(-bytes)
    this.#stranded.set(reading, bytes)
    this.#addStranded(bytes)
  }

  remove(reading: SocketUnread): void {
    this.strand(reading)
    this.#addStranded(-(this.#stranded.get(reading) ?? 0))
    this.#stranded.delete(reading)
    if (this.#open.size + this.#stranded.size === 0) this.#onEmpty()
  }

  #addStranded(leftBytes: number): void {
    this.strandedBytes += leftBytes
    this.#relay.strandedBytes += leftBytes
  }
}

/**
 * What one socket was sent and has not shown to have read. The platform cannot say how much of it waits in its queue:
 * there is no bufferedAmount, and a client's frames prove that it lives, not that it reads. So a client may prove it: a
 * pong carries a nonce that only its reader knows, the next ping returns it. Invariants: a proof covers what was sent
 * before its pong and nothing later; what an account and the relay count is the sum of their sockets; `sending` is O(1).
 * Lengths are UTF-16 units, which equal bytes for all but odd names.
 */
export class SocketUnread {
  readonly #account: AccountUnread
  #marks: { readonly nonce: string; readonly sent: number; readonly atMs: number }[] = []
  #sent = 0
  /** Up to where it is proved, or presumed, to be read. */
  #readUpTo = 0
  /** Up to where it was sent a large text last. */
  #largeUpTo = 0
  #provedMs = Number.NEGATIVE_INFINITY
  /** Ends the socket. */
  readonly cut: () => void

  constructor(account: AccountUnread, cut: () => void) {
    this.#account = account
    this.cut = cut
  }

  get bytes(): number {
    return this.#sent - this.#readUpTo
  }

  /** A large text is on its way to it. */
  get isLarge(): boolean {
    return this.#readUpTo < this.#largeUpTo
  }

  isProving(nowMs: number): boolean {
    return nowMs - this.#provedMs < PROOF_TTL_MS
  }

  /** Counts a text about to be sent; false where the socket must go instead. */
  countSend(length: number): boolean {
    this.#sent += length
    this.#account.onSend(length)
    if (length > LARGE_BYTES) {
      this.#largeUpTo = this.#sent
      this.#account.onLargeSent(this)
    }
    return !this.#account.isOver || this.bytes <= this.#account.share
  }

  /** A ping with a nonce: takes the proof in it, where it is one. Answers the pong's nonce, `fresh` or an older one. */
  onPing(nonce: string, fresh: string, nowMs: number): string {
    const mark = this.#marks.find((one) => one.nonce === nonce)
    if (mark) {
      this.markRead(mark.sent - this.#readUpTo)
      this.#marks.splice(0, this.#marks.indexOf(mark) + 1)
      // Nonces that were laid by say nothing of what came after them.
      if (nowMs - mark.atMs < PROOF_TTL_MS) this.#provedMs = nowMs
    }
    const last = this.#marks[MAX_MARKS - 1]
    if (last) return last.nonce
    this.#marks.push({ nonce: fresh, sent: this.#sent, atMs: nowMs })
    return fresh
  }

  /** So many bytes more are read; answers how many it had. Of a socket that was closed nothing is taken back. */
  markRead(bytes: number): number {
    if (!this.#account.isOpen(this)) return 0
    const settled = Math.max(0, Math.min(bytes, this.bytes))
    this.#readUpTo += settled
    this.#account.addLive(-settled)
    return settled
  }

  /** How long a Snapshot of so many bytes has to wait, in ms: 0 not at all, Infinity: it never can. Then ask again. */
  snapshotWaitMs(bytes: number, nowMs: number): number {
    const waitMs = this.#account.roomWaitMs(bytes, nowMs)
    if (!this.isProving(nowMs)) return waitMs
    if (!this.#account.canFit(bytes)) return Number.POSITIVE_INFINITY
    // Live changes are always on their way, so that a book larger than the window would wait for ever for an empty one.
    const fits = this.bytes <= WINDOW_BYTES / 2 || this.bytes + bytes <= WINDOW_BYTES
    return fits && waitMs === 0 ? 0 : PROVING_RECHECK_MS
  }

  /** We have closed the socket: what the client did not read stays in memory until it closes too. */
  onEnded(): void {
    this.#account.strand(this)
  }

  /** The platform says that the socket is no more, and has let go of what it held. */
  onClosed(): void {
    this.#account.remove(this)
  }
}
