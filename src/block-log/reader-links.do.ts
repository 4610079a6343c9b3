// The links to the readers that the log has dialed.

import { shardOf } from '../core/coin.ts'
import type { Objects } from '../core/objects.client.ts'
import { YIELD_MS } from '../core/time.ts'
import { type AttachRequest, type LinkTick, LOG_API_VERSION, type RelayEvents } from '../protocol/feed/log-api.ts'
import { LinkDialer } from './link-dialer.client.ts'
import type { OrderInterests } from './order-interests.do.ts'
import { ReaderLink, rowsLimit } from './reader-link.ts'
import type { Backlog } from './retained-blocks.do.ts'
import { SEGMENT_CHARS } from './segment.ts'

/** Maximum characters in flight to a reader that is catching up. Live blocks are sent without this limit. */
const AHEAD_CHARS = 4 * 1024 * 1024
/**
 * Characters to serve per turn: the length of the longest segment. One segment per turn would be slow if turns take
 * hundreds of milliseconds, for example when a whole gateway starts on one machine.
 */
const TURN_CHARS = SEGMENT_CHARS
/** Interval of ticks on an idle link: a third of the silence after which a link counts as dead. */
const TICK_MS = 3000

export class ReaderLinks {
  readonly #dialer: LinkDialer
  readonly #backlog: Backlog
  readonly #interests: OrderInterests
  readonly #onLost: (reader: ReaderLink) => void
  readonly #readers = new Map<string, ReaderLink>()
  #sentMs = 0

  /** `lost` is called when a link ends and no other link replaced it. */
  constructor(objects: Objects, backlog: Backlog, interests: OrderInterests, lost: (reader: ReaderLink) => void) {
    this.#dialer = new LinkDialer(objects, { v: LOG_API_VERSION, from: 'log', index: 0 })
    this.#onLost = lost
    this.#backlog = backlog
    this.#interests = interests
  }

  [Symbol.iterator](): Iterator<ReaderLink> {
    return this.#readers.values()
  }

  get(name: string): ReaderLink | undefined {
    return this.#readers.get(name)
  }

  dial({ name, reader }: AttachRequest): Promise<WebSocket> {
    return this.#dialer.dial(reader.kind, name)
  }

  /**
   * Serves a dialed reader from a height onward. Replaces an older link of the same name. `head`: last height of the
   * log.
   */
  open(request: AttachRequest, from: number, socket: WebSocket, head = from - 1): ReaderLink {
    const drop = () => {
      if (this.#readers.get(request.name) !== reader) return
      this.#readers.delete(request.name)
      this.#interests.onLeft(request.name, Date.now())
      this.#onLost(reader)
    }
    const send = (text: string) => {
      try {
        socket.send(text)
      } catch {
        drop()
      }
    }
    const interests = this.#interests.onAttached(request)
    const close = () => socket.close(1012)
    const reader: ReaderLink = new ReaderLink(request, from, { send, close }, shardOf, interests, head, () =>
      rowsLimit(this),
    )
    reader.readMs = Date.now()
    let isPaused = false
    // Serves a reader that is behind in limited turns, so that live blocks are not delayed, and no faster than the
    // reader reads.
    const pump = () => {
      for (let chars = 0; chars < TURN_CHARS; ) {
        isPaused = reader.unread > AHEAD_CHARS
        if (isPaused || this.#readers.get(request.name) !== reader) return
        const sent = reader.catchUp(this.#backlog.lookUp, this.#backlog.gapAt)
        if (sent === 0) {
          for (const texts of this.#backlog.pending()) reader.offer(texts)
          return
        }
        chars += sent
      }
      setTimeout(pump, YIELD_MS)
    }
    socket.addEventListener('message', ({ data }) => {
      // Ignore messages on a link that was replaced, because they are repeated on the new link.
      if (request.reader.kind === 'relay' && this.#readers.get(request.name) === reader) {
        const chars = Number(data)
        if (chars > 0) return reader.onReadMore(chars)
        // A relay that restarted has lost its count. Everything sent so far counts as read.
        if (this.#interests.onMessage(request.name, String(data))) reader.onReadMore(Number.POSITIVE_INFINITY)
        return
      }
      reader.onRead(Number(data), Date.now())
      if (isPaused) pump()
    })
    socket.addEventListener('close', drop)
    socket.addEventListener('error', drop)
    this.#readers.set(request.name, reader)
    pump()
    return reader
  }

  /** Records that a block was sent to all readers that are up to date. */
  onSent(nowMs: number): void {
    this.#sentMs = nowMs
  }

  /** Keeps idle links alive. Called with the pulses of feeders. `height` and `time` are those of the newest block. */
  tick(height: number | null, time: number, nowMs: number): void {
    if (nowMs - this.#sentMs < TICK_MS) return
    this.#sentMs = nowMs
    const toHub = JSON.stringify({ v: LOG_API_VERSION, t: 'tick' } satisfies LinkTick)
    // A relay ignores a height that it already has, but sees that the link is alive.
    const again = { v: LOG_API_VERSION, t: 'events', height: height ?? -1, time, fills: [], ledger: [] } as const
    const toRelay = JSON.stringify(again satisfies RelayEvents)
    for (const reader of this.#readers.values()) {
      if (reader.follows) reader.sendFrame(toHub)
      // A relay that is behind would mistake the frame for blocks that it has yet to get.
      else if (reader.kind.kind === 'relay' && reader.height === height) reader.sendFrame(toRelay)
    }
  }

  closeAll(): void {
    for (const reader of this.#readers.values()) {
      reader.close()
      this.#interests.onLeft(reader.name, Date.now())
    }
    this.#readers.clear()
  }
}
