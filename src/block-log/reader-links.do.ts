// The readers that the log has dialled.

import { shardOf } from '../core/coin.ts'
import type { Objects } from '../core/objects.client.ts'
import { type AttachRequest, type LinkTick, LOG_API_VERSION, type RelayEvents } from '../protocol/feed/log-api.ts'
import { LinkDialer } from './link-dialer.client.ts'
import type { OrderInterests } from './order-interests.do.ts'
import { ReaderLink } from './reader-link.ts'
import type { Backlog } from './retained-blocks.do.ts'
import { SEGMENT_CHARS } from './segment.ts'

/** So much may be under way to a reader that is behind before it is sent more: live blocks do not wait for it. */
const AHEAD_CHARS = 4 * 1024 * 1024
/**
 * What it is served in one turn: as much as the longest segment has. One segment a turn, a second of blocks that is mostly
 * far shorter, comes slowly where turns take hundreds of milliseconds, as when all of a gateway begins anew on one machine.
 */
const TURN_CHARS = SEGMENT_CHARS
/** An idle link is given a tick this often: a third of the silence after which it would be taken for dead. */
const TICK_MS = 3000

export class ReaderLinks {
  readonly #dialer: LinkDialer
  readonly #backlog: Backlog
  readonly #interests: OrderInterests
  readonly #onLost: (reader: ReaderLink) => void
  readonly #readers = new Map<string, ReaderLink>()
  #sentMs = 0

  /** `lost`: a link ended that no other replaced. */
  constructor(objects: Objects, backlog: Backlog, wants: OrderInterests, lost: (reader: ReaderLink) => void) {
    this.#dialer = new LinkDialer(objects, { v: LOG_API_VERSION, from: 'log', index: 0 })
    this.#onLost = lost
    this.#backlog = backlog
    this.#interests = wants
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

  /** Begins to serve a dialled reader from a height on, `head` is the newest; an older link of the same name is replaced. */
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
    const wanted = this.#interests.onAttached(request)
    const close = () => socket.close(1012)
    const reader: ReaderLink = new ReaderLink(request, from, { send, close }, shardOf, wanted, head)
    reader.readMs = Date.now()
    let isHeld = false
    // Where it is behind it is served so much a turn that live blocks are not held up, and no faster than it reads.
    const pump = () => {
      for (let chars = 0; chars < TURN_CHARS; ) {
        isHeld = reader.unread > AHEAD_CHARS
        if (isHeld || this.#readers.get(request.name) !== reader) return
        const more = reader.catchUp(this.#backlog.lookUp, this.#backlog.gapAt)
        if (more === 0) {
          for (const texts of this.#backlog.pending()) reader.offer(texts)
          return
        }
        chars += more
      }
      setTimeout(pump, 0)
    }
    socket.addEventListener('message', ({ data }) => {
      // Of a link that was replaced, the new one says it anew.
      if (request.reader.kind === 'relay' && this.#readers.get(request.name) === reader) {
        const chars = Number(data)
        if (chars > 0) return reader.onReadMore(chars)
        // One that woke has lost count, and has read all.
        if (this.#interests.onMessage(request.name, String(data))) reader.onReadMore(Number.POSITIVE_INFINITY)
        return
      }
      reader.onRead(Number(data), Date.now())
      if (isHeld) pump()
    })
    socket.addEventListener('close', drop)
    socket.addEventListener('error', drop)
    this.#readers.set(request.name, reader)
    pump()
    return reader
  }

  /** A block was sent to all that are up with the log. */
  onSent(nowMs: number): void {
    this.#sentMs = nowMs
  }

  /** Keeps idle links alive; `height` and `time` are those of the newest block. Called with what feeders say. */
  tick(height: number | null, time: number, nowMs: number): void {
    if (nowMs - this.#sentMs < TICK_MS) return
    this.#sentMs = nowMs
    const toHub = JSON.stringify({ v: LOG_API_VERSION, t: 'tick' } satisfies LinkTick)
    // A relay drops a height that it has, and has seen that the link lives.
    const again = { v: LOG_API_VERSION, t: 'events', height: height ?? -1, time, fills: [], ledger: [] } as const
    const toRelay = JSON.stringify(again satisfies RelayEvents)
    for (const reader of this.#readers.values()) {
      if (reader.follows) reader.sendFrame(toHub)
      // One that is behind would take it for the blocks that it has yet to be sent.
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
