// One client socket as the rest of the relay sees it: bounded sends, bounded frames, handlers one after another.
// Law: sending is O(1) beside the platform's own send, and nothing is sent after the end.

import type { Identity } from '../key/identity.ts'
import { errorFrame } from './frames.ts'
import { Lag } from './lag.ts'
import { Bucket } from './rate.ts'

/** The public server allows 2,000 frames a minute. */
const FRAMES_BURST = 2000
const FRAMES_PER_MS = 2000 / 60_000
/** Refused frames in a row before the socket goes: answering them without end would be free work. */
const MAX_REFUSED = 1000
const MAX_QUEUED = 2048
export const MAX_POSTS_IN_FLIGHT = 16

/** The time, read anew at every access. */
export interface Clock {
  readonly nowMs: number
}

/** The part of a WebSocket that is needed here. */
export interface Sink {
  send(text: string): void
  close(code: number, reason: string): void
}

export class Connection {
  readonly id: string
  readonly identity: Identity
  readonly #sink: Sink
  readonly #clock: Clock
  readonly #onEnd: (connection: Connection) => void
  readonly #lag = new Lag()
  readonly #rate: Bucket
  #refused = 0
  #queued = 0
  #queue: Promise<void> = Promise.resolve()
  #ended = false
  #activeMs: number
  posts = 0

  /** `onEnd` is called once, when the relay ends the socket or the client did. */
  constructor(id: string, identity: Identity, sink: Sink, clock: Clock, onEnd: (connection: Connection) => void) {
    this.id = id
    this.identity = identity
    this.#sink = sink
    this.#clock = clock
    this.#onEnd = onEnd
    this.#rate = new Bucket(FRAMES_BURST, FRAMES_PER_MS, clock.nowMs)
    this.#activeMs = clock.nowMs
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Last frame in either direction. */
  get activeMs(): number {
    return this.#activeMs
  }

  send(text: string): void {
    if (this.#ended) return
    if (!this.#lag.sending(text.length)) return this.#lagging()
    this.#activeMs = this.#clock.nowMs
    this.#put(text)
  }

  sendSnapshot(text: string): void {
    if (this.#ended) return
    if (!this.#lag.sendingSnapshot(text.length)) return this.#lagging()
    this.#activeMs = this.#clock.nowMs
    this.#put(text)
  }

  /** A frame of the client came. `no`: it is over the rate and must only be refused. */
  admit(): 'yes' | 'no' {
    this.#activeMs = this.#clock.nowMs
    this.#lag.received()
    if (this.#rate.take(1, this.#clock.nowMs)) {
      this.#refused = 0
      return 'yes'
    }
    if (++this.#refused > MAX_REFUSED) this.end(1008, 'too many messages')
    return 'no'
  }

  pinged(): void {
    this.#lag.pinged()
  }

  /** Runs `task` after every earlier one of this socket; false where too many wait. A task must not throw. */
  enqueue(task: () => Promise<void>): boolean {
    if (this.#queued >= MAX_QUEUED) return false
    this.#queued++
    this.#queue = this.#queue.then(task).finally(() => this.#queued--)
    return true
  }

  /** All tasks so far are done. */
  drained(): Promise<void> {
    return this.#queue
  }

  /** Sends a last frame and closes. Harmless when repeated. */
  end(code: number, reason: string, last?: string): void {
    if (this.#ended) return
    if (last !== undefined) this.#put(last)
    this.#ended = true
    try {
      this.#sink.close(code, reason)
    } catch {
      // Closed by the other side already.
    }
    this.#onEnd(this)
  }

  /** A book stream of this socket cannot go on: the client must connect again. */
  broken(why: 'continuity' | 'overflow'): void {
    if (why === 'continuity') this.end(1012, 'books begin again: reconnect')
    else this.end(1013, 'snapshots took too long: reconnect')
  }

  /** The other side closed. */
  gone(): void {
    if (this.#ended) return
    this.#ended = true
    this.#onEnd(this)
  }

  #lagging(): void {
    const text = 'You read too slowly, or do not say that you read: send pings ({"method":"ping"}) at least every 30 s.'
    this.end(1013, 'send pings', errorFrame(text, 'too_slow'))
  }

  #put(text: string): void {
    try {
      this.#sink.send(text)
    } catch {
      // The platform reports the close by itself; until then nothing more may be sent.
      this.gone()
    }
  }
}
