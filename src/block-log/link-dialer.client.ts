// Dials the readers of the log or of a hub. The frames that are sent on such a link reach the reader as incoming
// messages, which start the reader and keep it alive. If the reader had dialed, messages on its outgoing socket would
// not do that.

import { orReject } from '../core/deadline.ts'
import type { Objects } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import { LINK_HEADER, type LinkHeader, type ReaderKind } from '../protocol/feed/log-api.ts'
import { DialQueue } from './dial-queue.ts'

/** Maximum time for a dial. A reader accepts a link without waiting, so a reader that takes longer hangs. */
export const DIAL_MS = 3000

export class LinkDialer {
  readonly #objects: Pick<Objects, 'reader'>
  readonly #headers: HeadersInit
  readonly #queue = new DialQueue<WebSocket>(() => Date.now())

  constructor(objects: Pick<Objects, 'reader'>, from: LinkHeader) {
    this.#objects = objects
    this.#headers = { upgrade: 'websocket', [LINK_HEADER]: JSON.stringify(from) }
  }

  /**
   * Returns the accepted socket, on which nothing has been sent yet. Hubs are dialed first, because relays have nothing
   * to send until hubs are linked.
   */
  async dial(kind: ReaderKind['kind'], name: string): Promise<WebSocket> {
    const socket = await this.#queue.enqueue(name, kind === 'hub', () => this.#open(kind, name))
    socket.accept()
    return socket
  }

  async #open(kind: ReaderKind['kind'], name: string): Promise<WebSocket> {
    const hangUp = new AbortController()
    const { signal } = hangUp
    const response = this.#objects.reader(kind, name).fetch('http://reader/link', { headers: this.#headers, signal })
    try {
      const { webSocket } = await orReject(response, DIAL_MS, after)
      if (!webSocket) throw new Error('the reader did not accept the link')
      return webSocket
    } catch (error) {
      hangUp.abort()
      throw new Error(`${kind} ${name} could not be dialed`, { cause: error })
    }
  }
}
