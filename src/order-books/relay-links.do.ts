// The relays that a hub has dialed.

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
  /**
   * Until this time, every change gets a checksum, because a reconnecting relay may need checksums and cannot say so
   * yet.
   */
  #checksumAllUntilMs = Date.now() + RING_MS

  /** `index`: index of the hub. */
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

  /** Adds the checksums that relays want, or may want, to the changes of the current block. */
  withChecksums(fragments: readonly CoinFragment[]): readonly CoinFragment[] {
    return this.#views.withChecksums(fragments, Date.now() < this.#checksumAllUntilMs)
  }

  /** Dials a relay. Nothing is sent to it before `open`. */
  dial(relay: string): Promise<WebSocket> {
    return this.#dialer.dial('relay', relay)
  }

  /** Serves a dialed relay, replacing an older link of the same name. */
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

  /** Sends one block to all relays. `isKnown`: the books are complete, so views can be created from them. */
  publish(tick: HubTick, fragments: readonly EncodedFragment[], isKnown: boolean): void {
    const pieces = isKnown ? this.#views.due(tick.time) : null
    // After a restart, every relay needs full views. Relays share them: rounding all books once per relay would delay
    // blocks for seconds.
    const rendered = new Map<string, string | null>()
    for (const relay of this.#relays.values())
      relay.send(
        tick,
        fragments,
        pieces && relay.needsFullViews ? this.#views.renderAll(relay.views, rendered) : pieces,
      )
  }

  /** Adds interests in views. Returns false if there is no such relay. */
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
