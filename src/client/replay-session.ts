// A replay by the gateway (WS-155). It has its own socket with one body, from the first block to the last. Gaps are
// reported. If the socket ends, nothing is restarted.

import { LIMITS } from './connection-options.ts'
import { ReadReceipts } from './read-receipts.ts'
import { type ClientRuntime, type ClientSocket, describeEnd, type Endpoint, streamUrl } from './runtime.ts'
import { type DataFrame, decodeFrame, type KnownFrame, type ReplayEvent } from './server-frame.ts'
import { SnapshotBook } from './snapshot-book.ts'
import type { ReplayRange, SubscriptionBody } from './subscription.ts'

export interface ReplayListener {
  /** The replay is acknowledged, or now continues live. */
  live?(): void
  frame(frame: DataFrame): void
  /**
   * The blocks from `from` to `to` are missing. Without `to`, the books are unknown from block `from` until new
   * snapshots arrive.
   */
  missing(from: number, to?: number): void
  /** The replay has ended. `reason` is null if it finished. */
  ended(reason: string | null, code?: string): void
}

export class ReplaySession {
  readonly #body: SubscriptionBody
  readonly #listener: ReplayListener
  readonly #receipts: ReadReceipts
  readonly #socket: ClientSocket
  #isEnded = false

  constructor(
    runtime: ClientRuntime,
    endpoint: Endpoint,
    body: SubscriptionBody,
    replay: ReplayRange,
    listener: ReplayListener,
  ) {
    this.#body = body
    this.#listener = listener
    this.#receipts = new ReadReceipts(runtime.after.bind(runtime), (ping) => this.#send(ping))
    this.#socket = runtime.open(streamUrl(endpoint), {
      onOpen: () => {
        this.#receipts.start(LIMITS.pingMs)
        this.#send({ method: 'subscribe', subscription: body, replay })
      },
      onText: (text) => this.#onText(text),
      onEnd: (end) => this.#end(describeEnd(end)),
    })
  }

  /** Pauses, resumes or seeks the replay. */
  control(action: 'pause' | 'resume' | 'seek', to: Pick<ReplayRange, 'fromTime' | 'fromBlock'> = {}): void {
    this.#send({ method: 'replay', action, subscription: this.#body, ...to })
  }

  close(): void {
    this.#end('closed')
  }

  #onText(text: string): void {
    if (this.#isEnded) return
    this.#receipts.onText(text.length)
    const decoded = decodeFrame(text)
    if (decoded.kind === 'malformed') return this.#end(decoded.reason)
    if (decoded.kind === 'frame') this.#onFrame(decoded.frame)
    if (!this.#isEnded) this.#receipts.pingIfDue()
  }

  #onFrame(frame: KnownFrame): void {
    switch (frame.channel) {
      case 'pong':
        return this.#receipts.onPong(frame.nonce)
      case 'error':
        return this.#end(frame.data, frame.code)
      case 'replay':
        return this.#onEvent(frame.data)
      case 'subscriptionResponse':
        return this.#listener.live?.()
      default:
        this.#listener.frame(frame as DataFrame)
    }
  }

  #onEvent({ event, from, to }: ReplayEvent): void {
    if (event === 'ended') this.#end(null)
    else if (event === 'live') this.#listener.live?.()
    else if (from !== undefined && (event === 'gap' || event === 'unknown')) this.#listener.missing(from, to)
  }

  #end(reason: string | null, code?: string): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#receipts.stop()
    this.#socket.drop()
    this.#listener.ended(reason, code)
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }
}

export interface ReplayBooksListener extends Omit<ReplayListener, 'frame'> {
  changed(book: SnapshotBook): void
}

/** Replays the books of these coins and reports changes. Use the returned session to control or end the replay. */
export function replayBooks(
  runtime: ClientRuntime,
  endpoint: Endpoint,
  coins: readonly string[],
  replay: ReplayRange,
  { changed, ...listener }: ReplayBooksListener,
): ReplaySession {
  const books = new Map<string, SnapshotBook>()
  const frame = (frame: DataFrame) => {
    if (frame.channel !== 'l2BookDiff') return
    if ('Snapshot' in frame.data) {
      const book = new SnapshotBook(frame.data.Snapshot)
      books.set(book.coin, book)
      return changed(book)
    }
    const { book_diffs, block_height, time } = frame.data.Updates
    for (const { coin, levels } of book_diffs) {
      const book = books.get(coin)
      if (book?.apply(levels, block_height, time)) changed(book)
    }
  }
  return new ReplaySession(runtime, endpoint, { type: 'l2BookDiff', coin: [...coins] }, replay, { ...listener, frame })
}
