// One client socket as the rest of the relay sees it: bounded sends, bounded frames, handlers one after another.
// Law: sending is O(1) beside the platform's own send, and nothing is sent after the end.

import type { Identity, Product } from '../../accounts/identity.ts'
import { narrowIdentity } from '../../accounts/stream-token.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { type Bucket, borrowTokens, fullBucket, type Rate, takeTokens } from '../../core/token-bucket.ts'
import { limitsOf } from '../../metering/plans/plan.ts'
import { socketClose } from '../../protocol/relay/failure-frame.ts'
import { errorFrame } from '../../protocol/relay/frames.ts'
import type { SocketUnread } from './unread.ts'
import { LIGHT, RelayUnread } from './unread.ts'

/** Refused frames in a row before the socket goes: answering them without end would be free work. */
const MAX_CONSECUTIVE_REJECTIONS = 1000
/** A proof of so much does not count: who takes much has to prove often. Half of what is asked for: frames come in runs. */
const FREE_PROOF_BYTES = 16 * 1024
export const MAX_POSTS_IN_FLIGHT = 16

const TOO_SLOW =
  'Too much was sent to this account that nobody has shown to have read: connect again, and send pings with a nonce, ' +
  '{"method":"ping","nonce":"<the nonce of the last pong>"}, every 20 s and after each 32 KiB that came.'

/** The time, read anew at every access. */
export interface Clock {
  readonly nowMs: number
}

/** The part of a WebSocket that is needed here. */
export interface Sink {
  send(text: string): void
  close(code: number, reason: string): void
}

/** What counts what is sent to a socket, and what of it was read. */
export interface UnreadTracker {
  add(
    account: AccountId,
    cut: () => void,
  ): Pick<SocketUnread, 'bytes' | 'countSend' | 'snapshotWaitMs' | 'onPing' | 'onEnded' | 'onClosed'>
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
  /** `broken`: it ended because the relay could not serve it. */
  #state: 'open' | 'ended' | 'broken' = 'open'
  #activeMs: number
  /** A frame went down since somebody asked when. */
  #isActive = false
  pendingPosts = 0
  /** Hears of refusals, for the account's own list; null: nobody does. */
  onRejected: ((connection: Connection, type: string, failure: Failure) => void) | null = null
  #isPlaying = false
  /** Writes down what of it outlives the relay's memory. */
  persist: () => void = () => undefined
  /** What its key has to be for. */
  product: Product & ('stream' | 'graphql') = 'stream'
  /** Of a GraphQL operation, which is a client of its own: what it takes, beside its body, to begin it again. */
  operation: { readonly id: string; readonly alias: string; readonly key: string } | null = null
  /** What the client was last told of its credits; it is told of each once. */
  creditWarning: 'of nothing' | 'of a tenth' | 'of the end' = 'of nothing'

  /** `onEnd` is called once, when the relay ends the socket or the client did. `unread`: what its relay counts. */
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

  /** Which terms of its account `identity` holds: those of that number, or later ones. */
  get terms(): number {
    return this.#terms
  }

  /** The caller's terms have changed. Who came with a token stays bound to it. */
  renew(identity: Identity, terms: number): void {
    const { token } = this.#identity
    this.#identity = token ? narrowIdentity(identity, token) : identity
    this.#terms = terms
    if (!this.isEnded) this.persist()
    if (this.messagesPerMinute === this.#rate.burst) return
    this.#rate = rateOf(this.#identity)
    this.#frames = fullBucket(this.#rate, this.#clock.nowMs)
  }

  /** The past is played on it. */
  get isPlaying(): boolean {
    return this.#isPlaying
  }

  /** The past is played on it from now on, or no more. */
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
   * For how long no frame has gone in either direction, at least. Frames that went down count from when this is next
   * asked: reading the clock at every send would cost more than the rest of it.
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

  /** Tells the client that it is refused; `type`: what it asked for, empty where that was not read. */
  reject(failure: Failure, text: string, type = ''): void {
    if (this.isEnded) return
    this.onRejected?.(this, type, failure)
    this.send(text)
  }

  /**
   * How long a Snapshot of so many bytes has to wait, in ms: 0: it may be sent now; else ask again after that.
   * Infinity: not at this relay; the socket was told so and ended.
   */
  snapshotWaitMs(bytes: number): number {
    const waitMs = this.#socketUnread.snapshotWaitMs(bytes, this.#clock.nowMs)
    if (waitMs === Number.POSITIVE_INFINITY) this.#endTooSlow()
    return waitMs
  }

  /** A frame of the client came. `no`: it is over the rate and must only be refused. */
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

  /** Takes the nonce of an admitted ping, which proves what was read where it is the last pong's. Answers the pong's. */
  onPing(nonce: string, fresh: string): string {
    const now = this.#clock.nowMs
    const before = this.#socketUnread.bytes
    const answer = this.#socketUnread.onPing(nonce, fresh, now)
    const isFree = before - this.#socketUnread.bytes >= FREE_PROOF_BYTES
    if (isFree) this.#frames = borrowTokens(this.#frames, this.#rate, -1, now).bucket
    return answer
  }

  /** Runs `task` after every earlier one of this socket. A task must not throw. */
  enqueue(task: () => Promise<void>): void {
    this.#queue = this.#queue.then(task)
  }

  /** All tasks so far are done. */
  drained(): Promise<void> {
    return this.#queue
  }

  /** Sends a last frame and closes. Harmless when repeated. */
  end(code: number, reason: string, last?: string): void {
    this.#end('ended', code, reason, last)
  }

  #end(as: 'ended' | 'broken', code: number, reason: string, last?: string): void {
    if (this.isEnded) return
    if (last !== undefined) this.#write(last)
    this.#state = as
    this.#socketUnread.onEnded()
    try {
      this.#sink.close(code, reason)
    } catch {
      // Closed by the other side already.
    }
    this.#onEnd(this)
  }

  /** Ends by a failure after which nothing more can come. */
  fail(failure: Failure): void {
    if (!this.isEnded) this.onRejected?.(this, '', failure)
    const { code, reason, lastFrame } = socketClose(failure)
    this.end(code, reason, lastFrame)
  }

  /** The relay could not serve it: it is not the client's doing that it ended. */
  get isBroken(): boolean {
    return this.#state === 'broken'
  }

  /** A book stream of this socket cannot go on: the client must connect again. */
  breakBooks(why: 'continuity' | 'unserved'): void {
    if (why === 'continuity') this.#end('broken', 1012, 'books begin again: reconnect')
    else this.#end('broken', 1013, 'books cannot be had now: reconnect')
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
    this.end(1013, 'prove that you read', errorFrame(TOO_SLOW, 'too_slow'))
  }

  #write(text: string): void {
    try {
      this.#sink.send(text)
    } catch {
      // The platform reports the close by itself; until then nothing more may be sent.
      this.onClosed()
    }
  }
}

function messagesPerMinute(identity: Identity): number {
  return limitsOf(identity).streamMessagesPerMinute
}

/** A minute's frames may come at once. */
function rateOf(identity: Identity): Rate {
  const frames = messagesPerMinute(identity)
  return { perSecond: frames / 60, burst: frames }
}
