// The past, played by a gateway (WS-155): one socket and one body, from its first block to its last. What is missing is
// told, and nothing is begun anew where the socket ends.

import { LIMITS } from './connection-options.ts'
import { Proofs } from './proofs.ts'
import { type ClientRuntime, type ClientSocket, describeEnd, type Endpoint, streamUrl } from './runtime.ts'
import { type DataFrame, decodeFrame, type KnownFrame, type ReplayNews } from './server-frame.ts'
import { SnapshotBook } from './snapshot-book.ts'
import type { ReplayRange, SubscriptionBody } from './subscription.ts'

export interface PlayedListener {
  /** Acknowledged, or gone over into what is live. */
  live?(): void
  frame(frame: DataFrame): void
  /** Blocks `from` to `to` are missing; or (`to` undefined) from that block on books are not known, until Snapshots come. */
  missing(from: number, to?: number): void
  /** It is over: null where all was played, else why not. */
  ended(reason: string | null, code?: string): void
}

export class Played {
  readonly #body: SubscriptionBody
  readonly #listener: PlayedListener
  readonly #proofs: Proofs
  readonly #socket: ClientSocket
  #isOver = false

  constructor(
    runtime: ClientRuntime,
    endpoint: Endpoint,
    body: SubscriptionBody,
    replay: ReplayRange,
    listener: PlayedListener,
  ) {
    this.#body = body
    this.#listener = listener
    this.#proofs = new Proofs(runtime.after.bind(runtime), (ping) => this.#send(ping))
    this.#socket = runtime.open(streamUrl(endpoint), {
      opened: () => {
        this.#proofs.every(LIMITS.pingMs)
        this.#send({ method: 'subscribe', subscription: body, replay })
      },
      text: (text) => this.#text(text),
      ended: (end) => this.#over(describeEnd(end)),
    })
  }

  /** Pauses it, goes on, or plays from elsewhere. */
  steer(action: 'pause' | 'resume' | 'seek', to: Pick<ReplayRange, 'fromTime' | 'fromBlock'> = {}): void {
    this.#send({ method: 'replay', action, subscription: this.#body, ...to })
  }

  close(): void {
    this.#over('closed')
  }

  #text(text: string): void {
    if (this.#isOver) return
    this.#proofs.came(text.length)
    const decoded = decodeFrame(text)
    if (decoded.kind === 'malformed') return this.#over(decoded.reason)
    if (decoded.kind === 'frame') this.#frame(decoded.frame)
    if (!this.#isOver) this.#proofs.prove()
  }

  #frame(frame: KnownFrame): void {
    switch (frame.channel) {
      case 'pong':
        return this.#proofs.ponged(frame.nonce)
      case 'error':
        return this.#over(frame.data, frame.code)
      case 'replay':
        return this.#event(frame.data)
      case 'subscriptionResponse':
        return this.#listener.live?.()
      default:
        this.#listener.frame(frame as DataFrame)
    }
  }

  #event({ event, from, to }: ReplayNews): void {
    if (event === 'ended') this.#over(null)
    else if (event === 'live') this.#listener.live?.()
    else if (from !== undefined && (event === 'gap' || event === 'unknown')) this.#listener.missing(from, to)
  }

  #over(reason: string | null, code?: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#proofs.stop()
    this.#socket.drop()
    this.#listener.ended(reason, code)
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }
}

export interface PlayedBooksListener extends Omit<PlayedListener, 'frame'> {
  changed(book: SnapshotBook): void
}

/** Books of these coins, of which `changed` tells; `Played` steers and ends it. */
export function playedBooks(
  runtime: ClientRuntime,
  endpoint: Endpoint,
  coins: readonly string[],
  replay: ReplayRange,
  { changed, ...listener }: PlayedBooksListener,
): Played {
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
  return new Played(runtime, endpoint, { type: 'l2BookDiff', coin: [...coins] }, replay, { ...listener, frame })
}
