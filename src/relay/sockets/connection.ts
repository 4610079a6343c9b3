// One client socket: bounded sends, rate-limited frames, sequential handlers. Invariant: sending is O(1) on top of the
// platform's send, and nothing is sent after the end.

import type { Identity, Product } from '../../accounts/identity.ts'
import { narrowIdentity } from '../../accounts/stream-token.ts'
import { counters } from '../../core/counters.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { type Bucket, borrowTokens, fullBucket, type Rate, takeTokens } from '../../core/token-bucket.ts'
import { limitsOf } from '../../metering/plans/plan.ts'
import { socketClose } from '../../protocol/relay/failure-frame.ts'
import { errorFrame, lateFrame } from '../../protocol/relay/frames.ts'
import type { SocketUnread } from './unread.ts'
import { LIGHT, RelayUnread } from './unread.ts'

/** Consecutive rejected frames before the socket is closed, because answering them is unbilled work. */
const MAX_CONSECUTIVE_REJECTIONS = 1000
/**
 * A proof of this many bytes is not counted as a message, because fast readers must prove often. This is half the
 * amount that clients are asked for, because frames come in bursts.
 */
const FREE_PROOF_BYTES = 16 * 1024
export const MAX_POSTS_IN_FLIGHT = 16
/** A client that reads this late is notified, and one that reads later than the second limit is closed. */
export const LATE_MS = 10_000
export const MAX_LATE_MS = 30_000

const TOO_SLOW =
  'Too much unread data for this account. Reconnect and prove what you read: send ' +
  '{"method":"ping","nonce":"<nonce of the last pong>"} every 20 s and after each 32 KiB received.'
const TOO_LATE = `Your unread data was more than ${MAX_LATE_MS / 1000} s old. Reconnect, resume after your last block, and read faster or subscribe to less.`

/** The current time at every access. */
export interface Clock {
  readonly nowMs: number
}

/** The part of a WebSocket that is used here. */
export interface Sink {
  send(text: string): void
  close(code: number, reason: string): void
}

/** Counts what is sent to a socket and what was read. */
export interface UnreadTracker {
  add(
    account: AccountId,
    cut: () => void,
  ): Pick<
    SocketUnread,
    'bytes' | 'lateMs' | 'countSend' | 'snapshotWaitMs' | 'onNonce' | 'nextNonce' | 'onEnded' | 'onClosed'
  >
  markMoved(account: AccountId, nowMs: number): void
}

export class Connection {
  readonly id: string
  readonly #sink: Sink
  readonly #clock: Clock
  readonly #onEnd: (connection: Connection) => void
  readonly #socketUnread: ReturnType<UnreadTracker['add']>
  readonly #unread: UnreadTracker
  #identity: Identity
  #terms: number
  #rate: Rate
  #frames: Bucket
  #rejections = 0
  #queue: Promise<void> = Promise.resolve()
  /** `broken`: ended because the relay could not serve it. */
  #state: 'open' | 'ended' | 'broken' = 'open'
  /** Code with which this side closed the socket. */
  closeCode: number | null = null
  #activeMs: number
  /** True if a frame was sent since the last idle check. */
  #isActive = false
  pendingPosts = 0
  /** Called for rejections, for the account's own list. */
  onRejected: ((connection: Connection, type: string, failure: Failure) => void) | null = null
  #isPlaying = false
  /** True from a notice about late reading until the client has caught up. */
  #isLate = false
  /** Saves the state that survives hibernation. */
  persist: () => void = () => undefined
  /** The product that the key must allow. */
  product: Product & ('stream' | 'graphql') = 'stream'
  /**
   * Data that, together with the body, restarts a GraphQL operation after hibernation. Each operation has its own
   * `Connection`.
   */
  operation: { readonly id: string; readonly alias: string; readonly key: string } | null = null
  /** The last credit warning that was sent. Each warning is sent once. */
  creditWarning: 'none' | 'low' | 'last minute' = 'none'

  /** `onEnd` is called once, whichever side ends the socket. `unread` counts for the whole relay. */
  constructor(
    id: string,
    { identity, terms }: { readonly identity: Identity; readonly terms: number },
    sink: Sink,
    clock: Clock,
    onEnd: (connection: Connection) => void,
    unread: UnreadTracker = new RelayUnread(LIGHT, clock.nowMs),
  ) {
    this.id = id
    this.#terms = terms
    this.#identity = identity
    this.#sink = sink
    this.#clock = clock
    this.#onEnd = onEnd
    this.#rate = rateOf(identity)
    this.#frames = fullBucket(this.#rate, clock.nowMs)
    this.#activeMs = clock.nowMs
    this.#unread = unread
    this.#socketUnread = unread.add(identity.account, () => this.#endTooSlow())
  }

  get identity(): Identity {
    return this.#identity
  }

  /** Version of the account's terms that `identity` has, or an earlier one. */
  get terms(): number {
    return this.#terms
  }

  /** Applies changed terms of the caller. The limits of a stream token still apply. */
  renew(identity: Identity, terms: number): void {
    const { token } = this.#identity
    this.#identity = token ? narrowIdentity(identity, token) : identity
    this.#terms = terms
    if (!this.isEnded) this.persist()
    if (this.messagesPerMinute === this.#rate.burst) return
    this.#rate = rateOf(this.#identity)
    this.#frames = fullBucket(this.#rate, this.#clock.nowMs)
  }

  /** A replay runs on this socket. */
  get isPlaying(): boolean {
    return this.#isPlaying
  }

  setPlaying(isPlaying: boolean): void {
    this.#isPlaying = isPlaying
    if (!this.isEnded) this.persist()
  }

  get messagesPerMinute(): number {
    return messagesPerMinute(this.#identity)
  }

  get isEnded(): boolean {
    return this.#state !== 'open'
  }

  /**
   * Minimum time without a frame in either direction. Sent frames count from the next call, because reading the clock
   * on every send would cost more than the send.
   */
  idleMs(nowMs: number): number {
    if (this.#isActive) this.#activeMs = nowMs
    this.#isActive = false
    return nowMs - this.#activeMs
  }

  send(text: string): void {
    if (this.isEnded) return
    if (!this.#socketUnread.countSend(text.length)) return this.#endTooSlow()
    this.#isActive = true
    this.#write(text)
  }

  /** Sends a rejection. `type`: the requested channel, empty if it was not parsed. */
  reject(failure: Failure, text: string, type = ''): void {
    if (this.isEnded) return
    this.onRejected?.(this, type, failure)
    this.send(text)
  }

  /**
   * Time in ms until a snapshot of this size may be sent; 0: now. Infinity: never on this relay, and the socket was
   * ended.
   */
  snapshotWaitMs(bytes: number): number {
    const waitMs = this.#socketUnread.snapshotWaitMs(bytes, this.#clock.nowMs)
    if (waitMs === Number.POSITIVE_INFINITY) this.#endTooSlow()
    return waitMs
  }

  /** Counts a frame of the client. `no`: it is over the rate limit, so only reject it. */
  admit(): 'yes' | 'no' {
    const now = this.#clock.nowMs
    this.#activeMs = now
    const { bucket, taken } = takeTokens(this.#frames, this.#rate, 1, now)
    this.#frames = bucket
    if (taken === 1) {
      this.#rejections = 0
      return 'yes'
    }
    if (++this.#rejections > MAX_CONSECUTIVE_REJECTIONS) this.end(1008, 'too many messages')
    return 'no'
  }

  /** Handles the nonce of an admitted ping. Returns the nonce for the pong. */
  onPing(nonce: string, fresh: string): string {
    this.onNonce(nonce)
    return this.nextNonce(fresh)
  }

  /** Returns the nonce to send now: `fresh`, or an older one. */
  nextNonce(fresh: string): string {
    return this.#socketUnread.nextNonce(fresh, this.#clock.nowMs)
  }

  /** Handles the nonce of an admitted message, which proves what was read. */
  onNonce(nonce: string): void {
    const now = this.#clock.nowMs
    const before = this.#socketUnread.bytes
    this.#socketUnread.onNonce(nonce, now)
    const isFree = before - this.#socketUnread.bytes >= FREE_PROOF_BYTES
    if (isFree) this.#frames = borrowTokens(this.#frames, this.#rate, -1, now).bucket
    this.#checkLateness()
  }

  /** Notifies a client that reads late, once until it has caught up. Closes one that reads far too late. */
  #checkLateness(): void {
    const { lateMs } = this.#socketUnread
    if (lateMs >= MAX_LATE_MS) return this.end(4413, 'unread data is too old', errorFrame(TOO_LATE, 'too_late'))
    const isLate = this.#isLate ? lateMs > 0 : lateMs >= LATE_MS
    if (isLate && !this.#isLate) this.send(lateFrame(lateMs))
    this.#isLate = isLate
  }

  /** Runs `task` after every earlier task of this socket. A task must not throw. */
  enqueue(task: () => Promise<void>): void {
    this.#queue = this.#queue.then(task)
  }

  /** Resolves when all tasks so far are done. */
  drained(): Promise<void> {
    return this.#queue
  }

  /** Sends a last frame and closes. Idempotent. */
  end(code: number, reason: string, last?: string): void {
    this.#end('ended', code, reason, last)
  }

  #end(as: 'ended' | 'broken', code: number, reason: string, last?: string): void {
    if (this.isEnded) return
    if (last !== undefined) this.#write(last)
    this.#state = as
    this.closeCode = code
    this.#socketUnread.onEnded()
    counters.add('socket_closes', `${code}`)
    try {
      this.#sink.close(code, reason)
    } catch {
      // Already closed by the other side.
    }
    this.#onEnd(this)
  }

  /** Ends the socket with a failure. */
  fail(failure: Failure): void {
    if (!this.isEnded) this.onRejected?.(this, '', failure)
    const { code, reason, lastFrame } = socketClose(failure)
    this.end(code, reason, lastFrame)
  }

  /** Whether the socket ended because the relay could not serve it, and not because of the client. */
  get isBroken(): boolean {
    return this.#state === 'broken'
  }

  /** A book stream of this socket cannot continue, so the client must reconnect. */
  breakBooks(why: 'continuity' | 'unserved'): void {
    if (why === 'continuity') this.#end('broken', 1012, 'book continuity lost, reconnect')
    else this.#end('broken', 1013, 'books are unavailable, reconnect')
  }

  /** The other side closed, before or after this one. */
  onClosed(): void {
    this.#socketUnread.onClosed()
    if (this.isEnded) return
    this.#state = 'ended'
    this.#onEnd(this)
  }

  #endTooSlow(): void {
    this.#unread.markMoved(this.#identity.account, this.#clock.nowMs)
    this.end(1013, 'too much unread data', errorFrame(TOO_SLOW, 'too_slow'))
  }

  #write(text: string): void {
    try {
      this.#sink.send(text)
    } catch {
      // The platform reports the close itself. Until then nothing more may be sent.
      this.onClosed()
    }
  }
}

function messagesPerMinute(identity: Identity): number {
  return limitsOf(identity).streamMessagesPerMinute
}

/** A minute's frames may arrive in one burst. */
function rateOf(identity: Identity): Rate {
  const frames = messagesPerMinute(identity)
  return { perSecond: frames / 60, burst: frames }
}
