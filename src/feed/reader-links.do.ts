// The readers that the log has dialled. A reader's socket is an outgoing one, so its frames are incoming messages
// at the other end: they wake and keep a reader alive, which an outgoing socket of the reader's own would not.

import { shardOf } from '../core/coin.ts'
import { readerOf } from '../core/objects.client.ts'
import { type AttachRequest, LINK_HEADER, type LinkHeader, LOG_API_VERSION } from './log-api.ts'
import { type GapAt, type LookUp, ReaderLink } from './reader-link.ts'
import type { BlockTexts } from './segment.ts'

/** Blocks that are not live any more: those in storage, and those that wait for it. */
interface Backlog {
  readonly lookUp: LookUp
  readonly pending: () => readonly BlockTexts[]
  readonly gapAt: GapAt
}

export class ReaderLinks {
  readonly #env: Cloudflare.Env
  readonly #backlog: Backlog
  readonly #readers = new Map<string, ReaderLink>()

  constructor(env: Cloudflare.Env, backlog: Backlog) {
    this.#env = env
    this.#backlog = backlog
  }

  [Symbol.iterator](): Iterator<ReaderLink> {
    return this.#readers.values()
  }

  async dial({ name, reader }: AttachRequest): Promise<WebSocket> {
    const header: LinkHeader = { v: LOG_API_VERSION, from: 'log', index: 0 }
    const headers = { upgrade: 'websocket', [LINK_HEADER]: JSON.stringify(header) }
    const { webSocket } = await readerOf(this.#env, reader.kind, name).fetch('http://reader/link', { headers })
    if (!webSocket) throw new Error(`reader ${name} did not take the link`)
    webSocket.accept()
    return webSocket
  }

  /** Begins to serve a dialled reader from a height on; an older link of the same name is replaced. */
  open(request: AttachRequest, from: number, socket: WebSocket): ReaderLink {
    const drop = () => {
      if (this.#readers.get(request.name) === reader) this.#readers.delete(request.name)
    }
    const send = (text: string) => {
      try {
        socket.send(text)
      } catch {
        drop()
      }
    }
    const reader: ReaderLink = new ReaderLink(request, from, { send, close: () => socket.close(1012) }, shardOf)
    socket.addEventListener('close', drop)
    socket.addEventListener('error', drop)
    this.#readers.set(request.name, reader)
    this.#pump(reader)
    return reader
  }

  /** Serves a reader that is behind: a segment a turn, so that live blocks are not held up. */
  #pump(reader: ReaderLink): void {
    if (this.#readers.get(reader.name) !== reader) return
    if (reader.catchUp(this.#backlog.lookUp, this.#backlog.gapAt)) setTimeout(() => this.#pump(reader), 0)
    else for (const texts of this.#backlog.pending()) reader.offer(texts)
  }

  closeAll(): void {
    for (const reader of this.#readers.values()) reader.close()
    this.#readers.clear()
  }
}
