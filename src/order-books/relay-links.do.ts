// The relays that a hub has dialled.

import { LinkDialer } from '../block-log/link-dialer.client.ts'
import type { Objects } from '../core/objects.client.ts'
import { type BookInterest, HUB_API_VERSION, type RelayAttachRequest } from '../protocol/hub/hub-api.ts'
import type { CoinFragment, HubTick } from '../protocol/hub/hub-link.ts'
import { type EncodedFragment, RelayLink } from './relay-link.ts'
import { RING_MS } from './ring.ts'
import type { ShardViews } from './shard-views.ts'

export class RelayLinks {
  readonly #dialer: LinkDialer
  readonly #views: ShardViews
  readonly #relays = new Map<string, RelayLink>()
  /** Until then a relay may come back for what it missed, and is not here to say of what it wants checksums. */
  #checksumAllUntilMs = Date.now() + RING_MS

  /** Of hub `index`. */
  constructor(objects: Objects, index: number, views: ShardViews) {
    this.#views = views
    this.#dialer = new LinkDialer(objects, { v: HUB_API_VERSION, from: 'hub', index })
  }

  [Symbol.iterator](): Iterator<RelayLink> {
    return this.#relays.values()
  }

  get(relay: string): RelayLink | undefined {
    return this.#relays.get(relay)
  }

  /** Changes of the present block, with the checksums that relays want, or may want, of them. */
  withChecksums(fragments: readonly CoinFragment[]): readonly CoinFragment[] {
    return this.#views.withChecksums(fragments, Date.now() < this.#checksumAllUntilMs)
  }

  /** Dials a relay; nothing is sent to it before `open`. */
  dial(relay: string): Promise<WebSocket> {
    return this.#dialer.dial('relay', relay)
  }

  /** Begins to serve a dialled relay; an older link of the same name is replaced. */
  open({ relay, interest, cursor }: RelayAttachRequest, socket: WebSocket): RelayLink {
    const drop = () => {
      if (this.#relays.get(relay) !== link) return
      this.#relays.delete(relay)
      if (link.views.hasChecksums) this.#checksumAllUntilMs = Date.now() + RING_MS
      this.#retainViews()
    }
    const link: RelayLink = new RelayLink(relay, interest, cursor, (text) => {
      try {
        socket.send(text)
      } catch {
        drop()
      }
    })
    socket.addEventListener('close', drop)
    socket.addEventListener('error', drop)
    this.#relays.set(relay, link)
    this.#retainViews()
    return link
  }

  /** Sends one block to all. `isKnown`: views can be made of the books. */
  publish(tick: HubTick, fragments: readonly EncodedFragment[], isKnown: boolean): void {
    const pieces = isKnown ? this.#views.due(tick.time) : null
    // After a restart every relay is fresh, and rounding whole books for each would hold up the blocks for seconds.
    const made = new Map<string, string | null>()
    for (const relay of this.#relays.values())
      relay.send(tick, fragments, pieces && relay.needsFullViews ? this.#views.renderAll(relay.views, made) : pieces)
  }

  /** Adds wants of views; false where there is no such relay. */
  addViews(relay: string, wants: readonly string[]): boolean {
    const link = this.#relays.get(relay)
    link?.views.add(wants)
    this.#views.add(link ? wants : [])
    return link !== undefined
  }

  setInterest(relay: string, interest: BookInterest): void {
    this.#relays.get(relay)?.setInterest(interest)
    this.#retainViews()
  }

  #retainViews(): void {
    this.#views.retain([...this.#relays.values()].map(({ views }) => views))
  }
}
