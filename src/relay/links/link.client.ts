// One link to a writer (the log or a hub): the relay asks, the writer dials, frames come in as messages.
// Law: the cursor only moves forward within a chain, a frame at or below it is dropped, and a link that is needed
// and down is asked for again, first at once and then ever later, each link at times of its own: a writer that returns
// is not met by all relays at once.

import { PATIENCE_MS } from '../../block-log/dial-queue.ts'
import { backoffMs } from '../../core/backoff.ts'
import { orReject } from '../../core/deadline.ts'
import { SingleFlight } from '../../core/single-flight.ts'
import { after } from '../../core/timers.client.ts'
import type { Cursor } from '../../protocol/feed/log-api.ts'

/** A writer ticks with every block: silence for this long means that the link is dead. */
export const SILENCE_MS = 10_000
const RETRY = { firstMs: 400, capMs: 10_000, jitter: 0.5 }
const REMEMBERED_EPOCHS = 16

export interface AttachOutcome {
  readonly epoch: string | null
  readonly height: number | null
  readonly lost: boolean
}

/** What a link says to its relay and asks of it. */
export interface LinkPorts {
  attach(cursor: Cursor | null): Promise<AttachOutcome>
  /** True while something lives on this link. */
  isNeeded(): boolean
  /** What came between the cursor and now is lost. */
  onLost(): void
  /** Heights begin anew: another chain. */
  onRestart(): void
  /** The writer, which had nothing when it was asked, sends its first. */
  onFirstFrame?(): void
}

export class Link {
  readonly #ports: LinkPorts
  readonly #random: () => number
  #socket: WebSocket | null = null
  #isAttached = false
  readonly #attaching = new SingleFlight<void>()
  #cancelRetry: (() => void) | null = null
  #failures = 0
  #cursor: Cursor | null = null
  readonly #epochs: string[] = []
  #lastFrameMs = 0
  /** True until the first frame after a re-attach: only there a jump in heights means loss. */
  #isResuming = false
  /** The writer has nothing yet. */
  #isEmpty = false

  /** `random`: uniform in [0, 1). */
  constructor(ports: LinkPorts, random: () => number = Math.random) {
    this.#ports = ports
    this.#random = random
  }

  get isUp(): boolean {
    return this.#isAttached && this.#socket !== null
  }

  /** True for the socket that is this link at present. */
  ownsSocket(socket: WebSocket): boolean {
    return socket === this.#socket
  }

  /** True while a dial is waited for: another one comes of an attach that was given up, for what was needed then. */
  get isDialing(): boolean {
    return this.#attaching.isPending
  }

  /** Highest height that came; -1 where the next frame begins it, whatever its height. */
  get height(): number {
    return this.#cursor?.height ?? -1
  }

  /** True while something lives on this link. */
  get isNeeded(): boolean {
    return this.#ports.isNeeded()
  }

  /** Resolves when frames flow; rejects where the writer cannot be reached now (the link keeps trying if needed). */
  ensure(): Promise<void> {
    return this.isUp ? Promise.resolve() : this.#attaching.join(() => this.#attach())
  }

  /** The writer dialled. */
  accept(socket: WebSocket, nowMs: number): void {
    const old = this.#socket
    this.#socket = socket
    this.#lastFrameMs = nowMs
    if (old) close(old)
  }

  /** A link that outlived the relay's memory: it goes on, with the next frame as the first. */
  restore(socket: WebSocket, nowMs: number): void {
    this.accept(socket, nowMs)
    this.#isAttached = true
  }

  /** True where the frame is new and its content may be used. `epoch` null: the writer does not say. */
  admit(socket: WebSocket, height: number, epoch: string | null, nowMs: number): boolean {
    if (!this.ownsSocket(socket)) return false
    this.#lastFrameMs = nowMs
    const last = this.#cursor?.height ?? null
    if (last !== null && epoch !== null && height <= last && this.#isNewEpoch(epoch)) this.#restart()
    else if (last !== null && height <= last) return false
    else if (last !== null && this.#isResuming && height > last + 1) this.#ports.onLost()
    else if (last === null && this.#isEmpty) this.#ports.onFirstFrame?.()
    this.#isEmpty = false
    this.#isResuming = false
    this.#advance(height, epoch)
    return true
  }

  /** A socket of this link closed or failed. */
  onClosed(socket: WebSocket): void {
    if (socket !== this.#socket) return
    this.#socket = null
    this.#isAttached = false
    if (this.#ports.isNeeded()) this.#scheduleRetry(0)
  }

  /** Says something to the writer, who hears nothing on a socket that is closing. */
  send(text: string): void {
    try {
      this.#socket?.send(text)
    } catch {
      // It is told on the next link.
    }
  }

  /** Called by the alarm: replaces a silent link, drops one that nothing needs any more. */
  check(nowMs: number): void {
    if (!this.#ports.isNeeded()) return this.drop()
    if (this.isUp && nowMs - this.#lastFrameMs < SILENCE_MS) return
    if (this.isUp) this.#detach()
    if (!this.#attaching.isPending && this.#cancelRetry === null) this.#scheduleRetry(0)
  }

  /** Lets go of the link: without it the relay can hibernate. */
  drop(): void {
    this.#cancelRetry?.()
    this.#cancelRetry = null
    if (this.#attaching.isPending) return
    this.#detach()
    this.#cursor = null
    this.#isEmpty = false
  }

  #detach(): void {
    const socket = this.#socket
    this.#socket = null
    this.#isAttached = false
    if (socket) close(socket)
  }

  async #attach(): Promise<void> {
    const cursor = this.#cursor
    this.#isResuming = cursor !== null
    try {
      const outcome = await orReject(this.#ports.attach(cursor), PATIENCE_MS, after)
      if (!this.#socket) throw new Error('the writer answered but did not dial')
      this.#isAttached = true
      this.#failures = 0
      this.#onAttached(cursor, outcome)
    } catch (error) {
      const afterMs = backoffMs(RETRY, this.#failures++, this.#random())
      if (this.#ports.isNeeded()) this.#scheduleRetry(afterMs)
      throw error
    }
  }

  #onAttached(cursor: Cursor | null, { epoch, height, lost }: AttachOutcome): void {
    if (cursor === null) {
      if (this.#cursor !== null) return
      // It began while the link was down.
      if (this.#isEmpty && height !== null) this.#ports.onFirstFrame?.()
      this.#isEmpty = height === null
      if (height !== null) this.#advance(height, epoch)
      return
    }
    // Without an epoch nothing tells a log that was reset from one that lost its last second: to hear a second
    // twice is better than to wait for heights that may never come.
    const isAnother = epoch === null || this.#isNewEpoch(epoch)
    const isShorter = height === null || (height < cursor.height && isAnother)
    if (isShorter) this.#restart()
    else if (lost) {
      this.#isResuming = false
      this.#ports.onLost()
    }
  }

  #restart(): void {
    this.#cursor = null
    this.#isResuming = false
    this.#ports.onRestart()
  }

  #isNewEpoch(epoch: string): boolean {
    return !this.#epochs.includes(epoch)
  }

  #advance(height: number, epoch: string | null): void {
    this.#cursor = { height, epoch: epoch ?? this.#cursor?.epoch ?? '' }
    if (epoch === null || !this.#isNewEpoch(epoch)) return
    this.#epochs.push(epoch)
    if (this.#epochs.length > REMEMBERED_EPOCHS) this.#epochs.shift()
  }

  #scheduleRetry(afterMs: number): void {
    this.#cancelRetry ??= after(afterMs, () => {
      this.#cancelRetry = null
      // A failure has arranged the next attempt already.
      if (this.#ports.isNeeded()) this.ensure().catch(() => undefined)
    })
  }
}

function close(socket: WebSocket): void {
  try {
    socket.close(1000, 'replaced')
  } catch {
    // Closed by the other side already.
  }
}
