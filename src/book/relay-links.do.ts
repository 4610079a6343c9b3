// The relays that a hub has dialled.

import type { Objects } from '../core/objects.client.ts'
import { Dials } from '../feed/dials.client.ts'
import { HUB_API_VERSION, type RelayAttachRequest } from './hub-api.ts'
import { RelayLink } from './relay-link.ts'

export class RelayLinks {
  readonly #dials: Dials
  readonly #relays = new Map<string, RelayLink>()

  /** Of hub `index`. */
  constructor(objects: Objects, index: number) {
    this.#dials = new Dials(objects, { v: HUB_API_VERSION, from: 'hub', index })
  }

  [Symbol.iterator](): Iterator<RelayLink> {
    return this.#relays.values()
  }

  get(relay: string): RelayLink | undefined {
    return this.#relays.get(relay)
  }

  /** Dials a relay; nothing is sent to it before `open`. */
  dial(relay: string): Promise<WebSocket> {
    return this.#dials.dial('relay', relay)
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
