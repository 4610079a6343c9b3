// One link to a writer (the log or a hub). The relay requests it, the writer dials, and frames arrive as messages.
// Invariants: within a chain, the cursor only moves forward; a frame at or below the cursor is dropped. A needed link
// is requested again at once and then with backoff and jitter, so that relays do not all reach a returning writer at
// the same time.

import { PATIENCE_MS } from '../../block-log/dial-queue.ts'
import { backoffMs } from '../../core/backoff.ts'
import { orReject } from '../../core/deadline.ts'
import { SingleFlight } from '../../core/single-flight.ts'
import { after } from '../../core/timers.client.ts'
import type { Cursor } from '../../protocol/feed/log-api.ts'

/** A writer ticks with every block, so this much silence means that the link is dead. */
export const SILENCE_MS = 10_000
const RETRY = { firstMs: 400, capMs: 10_000, jitter: 0.5 }
const REMEMBERED_EPOCHS = 16

export interface AttachOutcome {
  readonly epoch: string | null
  readonly height: number | null
  readonly lost: boolean
}

/** Callbacks of a link to its relay. */
export interface LinkPorts {
  attach(cursor: Cursor | null): Promise<AttachOutcome>
  /** True while something uses this link. */
  isNeeded(): boolean
  /** Called when data between the cursor and now is lost. */
  onLost(): void
  /** Called when heights restarted, which means that this is another chain. */
  onRestart(): void
  /** Called when a writer that was empty when attached sends its first frame. */
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
  /** True until the first frame after a re-attach. Only in that frame does a jump in heights mean loss. */
  #isResuming = false
  /** True if the writer had no data when attached. */
  #isEmpty = false

  /** `random`: uniform in [0, 1). */
  constructor(ports: LinkPorts, random: () => number = Math.random) {
    this.#ports = ports
    this.#random = random
  }

  get isUp(): boolean {
    return this.#isAttached && this.#socket !== null
  }

  /** True for the current socket of this link. */
  ownsSocket(socket: WebSocket): boolean {
    return socket === this.#socket
  }

  /** True while a dial is expected. Any other dial belongs to an abandoned attach. */
  get isDialing(): boolean {
    return this.#attaching.isPending
  }

  /** Highest received height; -1 if any height may come next. */
  get height(): number {
    return this.#cursor?.height ?? -1
  }

  /** True while something uses this link. */
  get isNeeded(): boolean {
    return this.#ports.isNeeded()
  }

  /** Resolves when frames flow; rejects if the writer is unreachable. A needed link keeps trying. */
  ensure(): Promise<void> {
    return this.isUp ? Promise.resolve() : this.#attaching.join(() => this.#attach())
  }

  /** Accepts the writer's dialed socket. */
  accept(socket: WebSocket, nowMs: number): void {
    const old = this.#socket
    this.#socket = socket
    this.#lastFrameMs = nowMs
    if (old) close(old)
  }

  /** Restores a link after hibernation. Its next frame counts as the first. */
  restore(socket: WebSocket, nowMs: number): void {
    this.accept(socket, nowMs)
    this.#isAttached = true
  }

  /** True if the frame is new and may be used. `epoch` null: unknown. */
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

  /** Sends a message to the writer. A closing socket drops it. */
  send(text: string): void {
    try {
      this.#socket?.send(text)
    } catch {
      // It is sent on the next link.
    }
  }

  /** Called by the alarm: replaces a silent link and drops an unneeded one. */
  check(nowMs: number): void {
    if (!this.#ports.isNeeded()) return this.drop()
    if (this.isUp && nowMs - this.#lastFrameMs < SILENCE_MS) return
    if (this.isUp) this.#detach()
    if (!this.#attaching.isPending && this.#cancelRetry === null) this.#scheduleRetry(0)
  }

  /** Drops the link, so that the relay can hibernate. */
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
      if (!this.#socket) throw new Error('the writer responded but did not dial')
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
      // The writer started while the link was down.
      if (this.#isEmpty && height !== null) this.#ports.onFirstFrame?.()
      this.#isEmpty = height === null
      if (height !== null) this.#advance(height, epoch)
      return
    }
    // Without an epoch, a log that was reset looks like one that lost its last second. Receiving a second twice is
    // better than waiting for heights that may never come.
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
      // A failure has already scheduled the next attempt.
      if (this.#ports.isNeeded()) this.ensure().catch(() => undefined)
    })
  }
}

function close(socket: WebSocket): void {
  try {
    socket.close(1000, 'replaced')
  } catch {
    // The other side has already closed the socket.
  }
}
