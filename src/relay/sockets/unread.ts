// Bytes that a relay sent and that clients have not proved to have read, by account. This limit bounds memory that the
// platform hides. Invariants: the sockets of an account hold at most twice its limit, not counting bytes that are
// presumed read; a relay holds at most its part of the isolate's watermark plus the stranded bytes. Beyond that it closes
// sockets, those of the largest account first. It also closes sockets of accounts without proofs if they keep a snapshot
// of another client waiting.
//
// An honest client without proofs looks like one that never reads. So a client without proofs is presumed to read at a
// fixed rate until it leaves a close unanswered. A client that needs more moves to heavy relays, where it affects only
// clients like itself.

import { BoundedMap } from '../../core/bounded-map.ts'
import { ReadProofs, type RelayTime, RunningClock } from './read-proofs.ts'

const MIB = 1024 * 1024

/** Limits of an account at one relay. */
export interface UnreadRules {
  /** Maximum number of unread bytes of all its sockets together. */
  readonly bytes: number
  /** Bytes per second that are presumed read without a proof, for all its sockets together. */
  readonly presumedPerSecond: number
  /** Whether the account can move to other relays when it needs more. */
  readonly canMove: boolean
}

/**
 * The snapshots of a full wildcard do not fit. A client that subscribes to them without sending proofs moves to heavy
 * relays at once.
 */
export const LIGHT: UnreadRules = { bytes: 16 * MIB, presumedPerSecond: 32 * 1024, canMove: true }
/** The snapshots of one wildcard (25 MB) fit. The live changes of two wildcards (181 KB/s each) fit indefinitely. */
export const HEAVY: UnreadRules = { bytes: 32 * MIB, presumedPerSecond: 512 * 1024, canMove: false }

/** Maximum unread bytes of all relays of an isolate, which has 128 MB. */
export const WATERMARK_BYTES = 40 * MIB
/** Maximum number of their unread bytes on sockets that we closed and whose clients have not closed them yet. */
export const MAX_STRANDED_BYTES = 40 * MIB
/** Longest time that accounts without proofs delay a snapshot for which the isolate has no memory. */
const MAX_STARVED_MS = 30_000
/** A waiting snapshot that is not checked for this long has left. */
const WAITER_TTL_MS = 2_000
/** Share of an account's limit, and of the watermark, that snapshots may use. The rest is for live changes. */
const SNAPSHOT_SHARE = 7 / 8
/** If a snapshot would wait longer, another relay serves it sooner. */
const MAX_WAIT_MS = 10_000
const RECHECK_MS = 250
/**
 * A client that does not read can delay other large snapshots for at most this long. The watermark bounds the total.
 */
const LARGE_HOLD_MS = 30_000
/** How long a moved account is redirected, and how many accounts are remembered. */
const MOVED_TTL_MS = 3_600_000
const MAX_MOVED = 10_000

/** Maximum number of snapshot bytes in flight to a proving socket. More are sent as proofs arrive. */
const WINDOW_BYTES = 768 * 1024
/** At most one frame above this size is in flight per relay. */
const LARGE_BYTES = 8 * 1024 * 1024
/** Time to wait before checking whether a proof has arrived. */
const PROVING_RECHECK_MS = 50

/**
 * The relays of an isolate, which share its memory. A relay that is over its limit can only close its own sockets, so
 * all relays together hold less than twice the maximum.
 */
export class IsolateRelays {
  /** A relay that is reset runs no code, and its successor replaces it. */
  readonly #relays = new Map<string, WeakRef<RelayUnread>>()
  /** The largest snapshot that waits for memory of the isolate. */
  #waiting: { readonly bytes: number; readonly sinceMs: number; lastMs: number } | null = null

  add(name: string, relay: RelayUnread): void {
    this.#relays.set(name, new WeakRef(relay))
  }

  onSnapshotWait(bytes: number, nowMs: number): void {
    const waiting = this.#waiting
    if (waiting === null || nowMs - waiting.lastMs > WAITER_TTL_MS)
      this.#waiting = { bytes, sinceMs: nowMs, lastMs: nowMs }
    else if (bytes >= waiting.bytes) waiting.lastMs = nowMs
  }

  onSnapshotFit(bytes: number): void {
    if (this.#waiting !== null && bytes >= this.#waiting.bytes) this.#waiting = null
  }

  /** Bytes that accounts without proofs must free, because a snapshot has waited for too long. */
  missingBytes(nowMs: number): number {
    const waiting = this.#waiting
    if (waiting === null || nowMs - waiting.lastMs > WAITER_TTL_MS || nowMs - waiting.sinceMs < MAX_STARVED_MS) return 0
    let live = 0
    for (const reference of this.#relays.values()) live += reference.deref()?.live ?? 0
    return Math.max(0, live + waiting.bytes - WATERMARK_BYTES * SNAPSHOT_SHARE)
  }

  /** The rest of the maximum after the other relays, but at least an equal share. */
  limit(relay: RelayUnread, kind: 'live' | 'strandedBytes', maxBytes: number): number {
    let count = 1
    let others = 0
    for (const [name, reference] of this.#relays) {
      const other = reference.deref()
      if (other === undefined) this.#relays.delete(name)
      else if (other !== relay && other[kind] > 0) {
        count++
        others += other[kind]
      }
    }
    return Math.max(maxBytes - others, maxBytes / count)
  }
}

export class RelayUnread {
  readonly rules: UnreadRules
  readonly #isolate: IsolateRelays
  readonly #accounts = new Map<string, AccountUnread>()
  /** Accounts to redirect, with their expiry. */
  readonly #moved = new BoundedMap<string, number>(MAX_MOVED)
  /** The socket that received the last large frame, and when another socket first waited for it. */
  #large: SocketUnread | null = null
  #largeBlockedSinceMs: number | null = null
  /** Total bytes ever sent. */
  sent = 0
  /** Unread bytes of open sockets. */
  live = 0
  /** Unread bytes of sockets that we closed and clients did not. */
  strandedBytes = 0
  #presumedMs: number
  readonly #running: RunningClock

  /** `moved`: result of `movedAccounts` before a restart. `isolate`: the relays that share its memory. */
  constructor(
    rules: UnreadRules,
    nowMs: number,
    moved: readonly (readonly [string, number])[] = [],
    isolate = new IsolateRelays(),
  ) {
    this.rules = rules
    this.#isolate = isolate
    this.#presumedMs = nowMs
    this.#running = new RunningClock(nowMs)
    for (const [name, untilMs] of moved) this.#moved.set(name, untilMs)
  }

  /** Adds a socket; `cut` ends it. */
  add(name: string, cut: () => void): SocketUnread {
    const known = this.#accounts.get(name)
    if (known) return known.add(cut)
    // A socket's end may be reported twice, with another socket of its account in between.
    const account: AccountUnread = new AccountUnread(this, () => {
      if (this.#accounts.get(name) === account) this.#accounts.delete(name)
    })
    this.#accounts.set(name, account)
    return account.add(cut)
  }

  /** The account needs more than its limit on this relay, so it is redirected from now on. */
  markMoved(name: string, nowMs: number): void {
    if (this.rules.canMove) this.#moved.set(name, nowMs + MOVED_TTL_MS)
  }

  /** Redirected accounts with the time at which their redirect ends, including accounts with stranded bytes. */
  movedAccounts(nowMs: number): [string, number][] {
    for (const [name, account] of this.#accounts) if (account.strandedBytes > 0) this.markMoved(name, nowMs)
    return [...this.#moved.entries()].filter(([, untilMs]) => untilMs > nowMs)
  }

  /** True if the account's new sockets are refused. */
  isRefused(name: string, nowMs: number): boolean {
    const moved = this.#moved.get(name)
    return (moved !== undefined && moved > nowMs) || this.hasStranded(name)
  }

  /** True if too many bytes are unread on sockets that we closed and the account did not. */
  hasStranded(name: string): boolean {
    return (this.#accounts.get(name)?.strandedBytes ?? 0) > this.rules.bytes / 2
  }

  /** Call it every few seconds. It counts the bytes that are presumed read since the last call. */
  presumeRead(nowMs: number): void {
    const bytes = (Math.max(0, nowMs - this.#presumedMs) / 1000) * this.rules.presumedPerSecond
    this.#presumedMs = nowMs
    this.#running.at(nowMs)
    for (const account of this.#accounts.values()) account.presumeRead(Math.floor(bytes), nowMs)
  }

  timeAt(nowMs: number): RelayTime {
    return this.#running.at(nowMs)
  }

  /** Maximum unread bytes of this relay now. */
  get watermark(): number {
    return this.#isolate.limit(this, 'live', WATERMARK_BYTES)
  }

  /**
   * Above the watermark, cuts the larger half of the largest account's sockets until it is below. While a snapshot is
   * starved, does the same to accounts without proofs that hold more than a proving client may have in flight.
   */
  enforceWatermark(nowMs: number): void {
    const { watermark } = this
    while (this.live > watermark) this.#largest(() => true)?.cutLargest()
    while (this.#isolate.missingBytes(nowMs) > 0) {
      const largest = this.#largest((account) => account.live > WINDOW_BYTES && !account.isProving(nowMs))
      if (largest === undefined) return
      largest.cutLargest()
    }
  }

  #largest(isCandidate: (account: AccountUnread) => boolean): AccountUnread | undefined {
    let largest: AccountUnread | undefined
    for (const account of this.#accounts.values())
      if (account.live > (largest?.live ?? 0) && isCandidate(account)) largest = account
    return largest
  }

  /** Whether a snapshot of this size leaves the watermark's rest to live changes. */
  hasRoom(bytes: number, nowMs: number): boolean {
    const fits = this.live + bytes <= this.watermark * SNAPSHOT_SHARE
    if (fits) this.#isolate.onSnapshotFit(bytes)
    else this.#isolate.onSnapshotWait(bytes, nowMs)
    return fits
  }

  onLargeSent(socket: SocketUnread): void {
    this.#large = socket
    this.#largeBlockedSinceMs = null
  }

  /** Whether another large frame must wait until the previous one has been read. */
  isLargeBlocked(nowMs: number): boolean {
    if (!this.#large?.isLarge) return false
    this.#largeBlockedSinceMs ??= nowMs
    return nowMs - this.#largeBlockedSinceMs < LARGE_HOLD_MS
  }

  /** A closed socket is no longer read. */
  onLargeEnded(socket: SocketUnread): void {
    if (this.#large === socket) this.#large = null
  }

  /** True if so much data is stranded that only a restart frees it. */
  get isOverfull(): boolean {
    return this.strandedBytes > this.#isolate.limit(this, 'strandedBytes', MAX_STRANDED_BYTES)
  }
}

/** Unread bytes of one account at one relay. */
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
    const socket = new SocketUnread(this, cut)
    this.#open.add(socket)
    return socket
  }

  get isOver(): boolean {
    return this.live + this.strandedBytes > this.#relay.rules.bytes
  }

  /** Limit per socket of an account that is over its limit. */
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

  /** Proving sockets need no presumption, and a client that does not answer a close does not read. */
  presumeRead(bytes: number, nowMs: number): void {
    if (this.live === 0 || this.strandedBytes > 0) return
    let rest = bytes
    for (const socket of this.#open) if (!socket.isProving(nowMs)) rest -= socket.markRead(rest)
  }

  /** Time until a snapshot of this size fits in addition to the unread bytes. */
  roomWaitMs(bytes: number, nowMs: number): number {
    const { rules } = this.#relay
    if (bytes > LARGE_BYTES && this.canFit(bytes) && this.#relay.isLargeBlocked(nowMs)) return RECHECK_MS
    const over = this.live + this.strandedBytes + bytes - rules.bytes * SNAPSHOT_SHARE
    if (over <= 0) return this.#relay.hasRoom(bytes, nowMs) ? 0 : RECHECK_MS
    const waitMs = Math.ceil((over / rules.presumedPerSecond) * 1000)
    return rules.canMove && waitMs > MAX_WAIT_MS ? Number.POSITIVE_INFINITY : waitMs
  }

  /** False if only a heavy relay can send it. */
  canFit(bytes: number): boolean {
    const { rules } = this.#relay
    return !rules.canMove || bytes <= rules.bytes * SNAPSHOT_SHARE
  }

  onLargeSent(socket: SocketUnread): void {
    this.#relay.onLargeSent(socket)
  }

  timeAt(nowMs: number): RelayTime {
    return this.#relay.timeAt(nowMs)
  }

  isOpen(socket: SocketUnread): boolean {
    return this.#open.has(socket)
  }

  isProving(nowMs: number): boolean {
    for (const socket of this.#open) if (socket.isProving(nowMs)) return true
    return false
  }

  cutLargest(): void {
    const mean = this.live / this.#open.size
    for (const socket of [...this.#open]) {
      if (socket.bytes < mean) continue
      socket.cut()
      this.strand(socket)
    }
  }

  strand(socket: SocketUnread): void {
    if (!this.#open.delete(socket)) return
    const { bytes } = socket
    this.#relay.onLargeEnded(socket)
    this.addLive(-bytes)
    this.#stranded.set(socket, bytes)
    this.#addStranded(bytes)
  }

  remove(socket: SocketUnread): void {
    this.strand(socket)
    this.#addStranded(-(this.#stranded.get(socket) ?? 0))
    this.#stranded.delete(socket)
    if (this.#open.size + this.#stranded.size === 0) this.#onEmpty()
  }

  #addStranded(leftBytes: number): void {
    this.strandedBytes += leftBytes
    this.#relay.strandedBytes += leftBytes
  }
}

/**
 * Bytes sent to one socket without proof of reading. Invariants: the counts of account and relay are sums over their
 * sockets; `countSend` is O(1). Lengths are UTF-16 units, which equal bytes except for rare names.
 */
export class SocketUnread {
  readonly #account: AccountUnread
  readonly #proofs = new ReadProofs()
  #sent = 0
  /** Offset up to which data is proved or presumed read. */
  #readUpTo = 0
  /** Offset at the end of the last large frame. */
  #largeUpTo = 0
  /** Ends the socket. */
  readonly cut: () => void

  constructor(account: AccountUnread, cut: () => void) {
    this.#account = account
    this.cut = cut
  }

  get bytes(): number {
    return this.#sent - this.#readUpTo
  }

  /** Whether a large frame is in flight. */
  get isLarge(): boolean {
    return this.#readUpTo < this.#largeUpTo
  }

  isProving(nowMs: number): boolean {
    return this.#proofs.isProving(nowMs)
  }

  /** Least age of the oldest unread frame at the last ping; 0 if no frame is known to be unread. */
  get lateMs(): number {
    return this.#proofs.lateMs
  }

  /** Counts a frame before it is sent. If it returns false, end the socket instead. */
  countSend(length: number): boolean {
    this.#sent += length
    this.#account.onSend(length)
    this.#proofs.onFrame(length, this.#sent)
    if (length > LARGE_BYTES) {
      this.#largeUpTo = this.#sent
      this.#account.onLargeSent(this)
    }
    return !this.#account.isOver || this.bytes <= this.#account.share
  }

  /** Handles a nonce from the client, which may prove what it read. */
  onNonce(nonce: string, nowMs: number): void {
    this.#proofs.onNonce(nonce, this.#sent, this.#account.timeAt(nowMs))
    this.markRead(this.#proofs.upTo - this.#readUpTo)
  }

  /** Returns the nonce to send now: `fresh`, or an older one. */
  nextNonce(fresh: string, nowMs: number): string {
    return this.#proofs.nextNonce(fresh, this.#sent, this.#account.timeAt(nowMs))
  }

  /** Marks bytes as read and returns how many were unread. Bytes of a closed socket stay stranded. */
  markRead(bytes: number): number {
    if (!this.#account.isOpen(this)) return 0
    const settled = Math.max(0, Math.min(bytes, this.bytes))
    this.#readUpTo += settled
    this.#account.addLive(-settled)
    return settled
  }

  /** Time in ms until a snapshot of this size may be sent. Call again after that time. 0: now. Infinity: never. */
  snapshotWaitMs(bytes: number, nowMs: number): number {
    const waitMs = this.#paceMs(bytes, nowMs)
    if (waitMs === 0) this.#proofs.onBulk(bytes, this.#account.timeAt(nowMs))
    return waitMs
  }

  #paceMs(bytes: number, nowMs: number): number {
    const waitMs = this.#account.roomWaitMs(bytes, nowMs)
    if (!this.isProving(nowMs)) return waitMs
    if (!this.#account.canFit(bytes)) return Number.POSITIVE_INFINITY
    // Live changes are always in flight, so a book larger than the window would wait forever for an empty one.
    const fits = this.bytes <= WINDOW_BYTES / 2 || this.bytes + bytes <= WINDOW_BYTES
    return fits && waitMs === 0 ? 0 : PROVING_RECHECK_MS
  }

  /** We closed the socket. Unread data stays in memory until the client closes too. */
  onEnded(): void {
    this.#account.strand(this)
  }

  /** The platform reports the socket closed and has freed its memory. */
  onClosed(): void {
    this.#account.remove(this)
  }
}
