// All links of one relay: to the log while events, states or orders are subscribed, and to a hub while its coins are.

import { type InterestCounts, wantFrameParts } from '../../block-log/interest-counts.ts'
import { type Coin, shardOf } from '../../core/coin.ts'
import { orFallback, orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import { AgeCounts, type AgeReport } from '../../protocol/feed/ages.ts'
import type { BlockLogApi, EventsResponse, LinkHeader, RelayFrame } from '../../protocol/feed/log-api.ts'
import { LOG_API_VERSION, type RelayInterest } from '../../protocol/feed/log-api.ts'
import type { BookHubApi } from '../../protocol/hub/hub-api.ts'
import { errorFrame } from '../../protocol/relay/frames.ts'
import { BookFanout, type BookFeed } from '../books/book-fanout.ts'
import type { BookHubs } from '../books/snapshots.ts'
import type { EventFanout } from '../events/event-fanout.ts'
import type { L4Fanout } from '../l4/l4-fanout.ts'
import type { Attachment } from '../sockets/attachment.ts'
import type { Clock, Connection } from '../sockets/connection.ts'
import { Hub } from './hub.client.ts'
import { Link } from './link.client.ts'

const HUB_TIMEOUT_MS = 1_000
const LOG_TIMEOUT_MS = 5_000
/**
 * The relay reports to the log each time it has read this many characters, because the log limits the data in flight.
 */
const REPORT_CHARS = 256 * 1024

export interface LinksPorts {
  /** Name of the relay's object, by which the writers dial it. */
  readonly relay: string
  readonly shards: number
  readonly clock: Clock
  log(): BlockLogApi
  hub(index: number): BookHubApi
}

/** Users of the log's blocks. */
interface LogConsumers {
  readonly events: EventFanout<Connection>
  readonly states: { readonly needsBlocks: boolean }
  readonly l4: L4Fanout<Connection>
}

export class Links implements BookFeed {
  /** Fan-out of the hubs' frames. */
  readonly books: BookFanout<Connection>
  readonly log: Link
  readonly hubs: readonly Hub[]
  readonly #orders: InterestReporter
  /** The interface through which a starting subscription uses the hubs. */
  readonly source: BookHubs = {
    ensure: (hub) => this.#hub(hub).link.ensure(),
    join: (hub, coins, withBooks) => this.#hub(hub).join(coins, withBooks),
    joinTypes: (hub, types) => this.#hub(hub).joinTypes(types),
    joinViews: (hub, interests) => this.#hub(hub).joinViews(interests),
  }
  readonly #ports: LinksPorts
  readonly #ages = new AgeCounts()
  readonly #consumers: LogConsumers
  #readChars = 0
  /** Number of running tasks that need the links before any subscription does. */
  #pinned = 0

  constructor(ports: LinksPorts, followers: LogConsumers) {
    const { events, l4 } = followers
    this.#ports = ports
    this.#consumers = followers
    this.books = new BookFanout(ports.shards, this)
    this.log = this.#linkToLog()
    this.#orders = new InterestReporter(events.orders, l4.coins, this.log)
    events.onOrdersChange = () => this.#orders.onChange()
    l4.onChange = () => this.#orders.onChange()
    this.hubs = Array.from({ length: ports.shards }, (_, index) => this.#linkToHub(index))
  }

  get isUp(): boolean {
    return this.log.isUp || this.hubs.some(({ link }) => link.isUp)
  }

  /** Whether blocks are expected. Some states need none. */
  get isNeeded(): boolean {
    return this.log.isNeeded || this.hubs.some(({ link }) => link.isNeeded)
  }

  /** Coin names of all hubs that respond. */
  async coins(): Promise<string[]> {
    const { shards, hub } = this.#ports
    const responses = await Promise.allSettled(Array.from({ length: shards }, (_, index) => hub(index).tops()))
    return responses
      .flatMap((one) => (one.status === 'fulfilled' ? (one.value?.tops ?? []) : []))
      .map(({ coin }) => coin)
  }

  /** Whether the coin has a book according to its hub; null if there is no response within a second. */
  async hasBook(coin: Coin): Promise<boolean | null> {
    const { shards, hub } = this.#ports
    const reply = hub(shardOf(coin, shards)).snapshot(coin, 1)
    const response = await orFallback(reply, HUB_TIMEOUT_MS, null, after).catch(() => null)
    if (response?.ok) return true
    return response?.reason === 'unknown_coin' ? false : null
  }

  /** The log's events, starting at a height. */
  eventsFrom(from: number): Promise<EventsResponse> {
    const { log, relay } = this.#ports
    return orReject(log().events({ v: LOG_API_VERSION, from, relay }), LOG_TIMEOUT_MS, after)
  }

  /** True if a frame of the log, `chars` long, is new. */
  acceptsFromLog(socket: WebSocket, frame: RelayFrame, chars: number, nowMs: number): boolean {
    this.#reportRead(chars)
    if (frame.t === 'gap') return this.log.admit(socket, frame.to, null, nowMs)
    return this.log.admit(socket, frame.height, frame.epoch ?? null, nowMs)
  }

  #reportRead(chars: number): void {
    this.#readChars += chars
    if (this.#readChars < REPORT_CHARS) return
    this.log.send(String(this.#readChars))
    this.#readChars = 0
  }

  /** The link that a socket belongs to. */
  linkOf(attachment: Attachment): Link | undefined {
    if (attachment.of === 'log') return this.log
    return attachment.of === 'hub' ? this.hubs[attachment.index]?.link : undefined
  }

  heightOf(hub: number): number {
    return this.hubs[hub]?.link.height ?? -1
  }

  /** A block of this time was sent to clients. */
  onSent(time: number): void {
    this.#ages.add(this.#ports.clock.nowMs - time)
  }

  /** Runs work, such as starting a subscription, while links stay up and no interest is released. */
  async withLinksUp<T>(run: () => Promise<T>): Promise<T> {
    this.#pinned++
    try {
      return await run()
    } finally {
      this.#pinned--
    }
  }

  /** Periodic work: replaces silent links, drops unneeded ones, releases interest, reports ages. */
  check(nowMs: number, clients: Pick<AgeReport, 'sockets' | 'subscriptions'>): void {
    this.#report(nowMs, clients)
    this.log.check(nowMs)
    this.#orders.flush()
    for (const hub of this.hubs) {
      hub.link.check(nowMs)
      // If a hub cannot be updated now, the next maintenance or the next attach updates it.
      if (hub.link.isUp && this.#pinned === 0) hub.syncInterest().catch(() => undefined)
    }
  }

  /** Books with coins of this hub cannot continue, so their sockets must reconnect. */
  breakDiffs(index: number): void {
    for (const connection of this.books.seededReceiversOf(index)) connection.breakBooks('continuity')
  }

  /** Notifies every event subscriber of missing events. Orders restart. */
  notifyGap(text: string): void {
    this.#consumers.l4.reset()
    for (const connection of this.#consumers.events.receivers()) connection.send(errorFrame(text, 'gap'))
  }

  /** A lost report does not matter, because the next follows in a minute. */
  #report(nowMs: number, clients: Pick<AgeReport, 'sockets' | 'subscriptions'>): void {
    const counts = this.#ages.take(nowMs)
    if (counts === null) return
    const { relay, log } = this.#ports
    log()
      .ages({ v: LOG_API_VERSION, relay, ...clients, counts })
      .catch(() => undefined)
  }

  #hub(index: number): Hub {
    const hub = this.hubs[index]
    if (!hub) throw new Error(`unknown hub ${index}`)
    return hub
  }

  #linkToLog(): Link {
    const { relay, log } = this.#ports
    const { events, l4, states } = this.#consumers
    return new Link({
      attach: async (cursor) => {
        const reader = { kind: 'relay' } as const
        const target = this.#orders.all()
        const response = await log().attach({ v: LOG_API_VERSION, name: relay, reader, cursor, ...target })
        this.#orders.onChange()
        return response
      },
      isNeeded: () => this.#pinned > 0 || events.size > 0 || l4.size > 0 || states.needsBlocks,
      onLost: () => this.notifyGap('The link to the feed was down for too long. Some events are missing.'),
      onRestart: () => this.notifyGap('The feed restarted. Block heights start over.'),
      onFirstFrame: () => this.notifyGap('The feed started. Events before its first block are missing.'),
    })
  }

  #linkToHub(index: number): Hub {
    const { relay, hub } = this.#ports
    return new Hub({
      relay,
      stub: () => hub(index),
      interest: () => this.books.interestOf(index),
      isNeeded: () => this.#pinned > 0 || this.books.needsHub(index),
      onLost: () => this.breakDiffs(index),
      onRestart: () => {
        this.breakDiffs(index)
        this.books.restart(index)
      },
    })
  }
}

/** The attachment of a dialed socket. */
export function attachmentOf(header: LinkHeader): Attachment {
  return header.from === 'log' ? { of: 'log' } : { of: 'hub', index: header.index }
}

/** Changes within this time are sent together. */
const REPORT_DELAY_MS = 250

/** Sends the subscribed wallets and coins to the log: all of them on each new link, then only the changes. */
class InterestReporter {
  readonly #orders: InterestCounts
  readonly #l4: InterestCounts
  readonly #link: Link
  #isScheduled = false
  /** True if the interest stored by the log is unknown, as after hibernation. */
  #isUnknown = true

  /** `orders` has wallets, `l4` coins. */
  constructor(orders: InterestCounts, l4: InterestCounts, link: Link) {
    this.#orders = orders
    this.#l4 = l4
    this.#link = link
  }

  /** All interest, for a new link. */
  all(): { readonly orders: readonly string[]; readonly l4: readonly string[] } {
    this.#orders.takeChange()
    this.#l4.takeChange()
    this.#isUnknown = false
    return { orders: [...this.#orders.sent], l4: [...this.#l4.sent] }
  }

  /** The interest may have changed. It is sent soon. */
  onChange(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    after(REPORT_DELAY_MS, () => {
      this.#isScheduled = false
      this.flush()
    })
  }

  /** Sends pending changes. While the link is down, they wait for the next one. */
  flush(): void {
    if (!this.#link.isUp) return
    const isFull = this.#isUnknown
    const change = isFull ? this.#fullChange() : { orders: this.#orders.takeChange(), l4: this.#l4.takeChange() }
    if (!change.orders && !change.l4) return
    for (const part of wantFrameParts(change, isFull))
      this.#link.send(JSON.stringify({ v: LOG_API_VERSION, t: 'want', ...part } satisfies RelayInterest))
  }

  #fullChange() {
    const { orders, l4 } = this.all()
    return { orders: { add: orders, drop: [] }, l4: { add: l4, drop: [] } }
  }
}
