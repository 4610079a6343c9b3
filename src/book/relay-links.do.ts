// The relays that a hub has dialled. A relay's socket is an outgoing one, so that its frames are incoming messages
// at the relay, which wake it and keep it alive.

import { readerOf } from '../core/objects.client.ts'
import { LINK_HEADER, type LinkHeader } from '../feed/log-api.ts'
import { HUB_API_VERSION, type RelayAttachRequest } from './hub-api.ts'
import { RelayLink } from './relay-link.ts'

export class RelayLinks {
  readonly #env: Cloudflare.Env
  readonly #relays = new Map<string, RelayLink>()

  constructor(env: Cloudflare.Env) {
    this.#env = env
  }

  [Symbol.iterator](): Iterator<RelayLink> {
    return this.#relays.values()
  }

  get(relay: string): RelayLink | undefined {
    return this.#relays.get(relay)
  }

  /** Dials a relay as hub `index`; nothing is sent to it before `open`. */
  async dial(relay: string, index: number): Promise<WebSocket> {
    const header: LinkHeader = { v: HUB_API_VERSION, from: 'hub', index }
    const headers = { upgrade: 'websocket', [LINK_HEADER]: JSON.stringify(header) }
    const { webSocket } = await readerOf(this.#env, 'relay', relay).fetch('http://relay/link', { headers })
    if (!webSocket) throw new Error(`relay ${relay} did not take the link`)
    webSocket.accept()
    return webSocket
  }

  /** Begins to serve a dialled relay; an older link of the same name is replaced. */
  open({ relay, interest }: RelayAttachRequest, socket: WebSocket): RelayLink {
    const drop = () => {
      if (this.#relays.get(relay) === link) this.#relays.delete(relay)
    }
    const link: RelayLink = new RelayLink(relay, interest, (text) => {
      try {
        socket.send(text)
      } catch {
        drop()
      }
    })
    socket.addEventListener('close', drop)
    socket.addEventListener('error', drop)
    this.#relays.set(relay, link)
    return link
  }
}
