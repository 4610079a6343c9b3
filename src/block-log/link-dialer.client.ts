// Dials the readers of the log, or of a hub. A reader's socket is an outgoing one, so its frames are incoming messages
// at the other end: they wake and keep a reader alive, which an outgoing socket of the reader's own would not.

import { orReject } from '../core/deadline.ts'
import type { Objects } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import { LINK_HEADER, type LinkHeader, type ReaderKind } from '../protocol/feed/log-api.ts'
import { DialQueue } from './dial-queue.ts'

/** A reader takes a link without waiting for anything: one that has not in this time hangs. */
export const DIAL_MS = 3000

export class LinkDialer {
  readonly #objects: Pick<Objects, 'reader'>
  readonly #headers: HeadersInit
  readonly #queue = new DialQueue<WebSocket>(() => Date.now())

  constructor(objects: Pick<Objects, 'reader'>, from: LinkHeader) {
    this.#objects = objects
    this.#headers = { upgrade: 'websocket', [LINK_HEADER]: JSON.stringify(from) }
  }

  /** The accepted socket; nothing is sent on it yet. Hubs come first: relays have nothing to send without them. */
  async dial(kind: ReaderKind['kind'], name: string): Promise<WebSocket> {
    const socket = await this.#queue.enqueue(name, kind === 'hub', () => this.#open(kind, name))
    socket.accept()
    return socket
  }

  async #open(kind: ReaderKind['kind'], name: string): Promise<WebSocket> {
    const hangUp = new AbortController()
    const { signal } = hangUp
    const asked = this.#objects.reader(kind, name).fetch('http://reader/link', { headers: this.#headers, signal })
    try {
      const { webSocket } = await orReject(asked, DIAL_MS, after)
      if (!webSocket) throw new Error('it did not take the link')
      return webSocket
    } catch (error) {
      hangUp.abort()
      throw new Error(`${kind} ${name} could not be dialled`, { cause: error })
    }
  }
}
