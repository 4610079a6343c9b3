// All links of one relay: to the log while events are subscribed to, to a hub while its coins are.

import type { BookHubApi } from '../../book/hub-api.ts'
import { shardOf } from '../../core/coin.ts'
import { orLate, orReject } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import { AgeCounts } from '../../feed/ages.ts'
import type { BlockLogApi, EventsAnswer, LinkHeader, RelayFrame } from '../../feed/log-api.ts'
import { LOG_API_VERSION } from '../../feed/log-api.ts'
import type { BookFanout } from '../books/book-fanout.ts'
import type { BookSource } from '../books/snapshots.ts'
import type { EventFanout } from '../events/event-fanout.ts'
import { errorFrame } from '../frames.ts'
import type { L4Fanout } from '../l4/l4-fanout.ts'
import type { Attachment } from '../sockets/attachment.ts'
import type { Connection } from '../sockets/connection.ts'
import { Hub } from './hub.client.ts'
import { Link } from './link.client.ts'
import { OrderWants } from './order-wants.client.ts'

const HUB_WAIT_MS = 1_000
const LOG_WAIT_MS = 5_000
/** So many characters of the log are read before it is told: by that it bounds what is under way. */
const REPORT_CHARS = 256 * 1024

export interface LinksPorts {
  /** Name of the relay's object, by which the writers dial it. */
  readonly relay: string
  readonly shards: number
  log(): BlockLogApi
  hub(index: number): BookHubApi
  /** True while a subscription begins, which needs links before a body names them. */
  busy(): boolean
  /** Blocks are needed by what is no subscription of their events. */
  needsBlocks(): boolean
  /** Sockets of clients at present. */
  sockets(): number
}

export class Links {
  readonly log: Link
  readonly hubs: readonly Hub[]
  /** Whose order statuses the log is asked for. */
  readonly orders: OrderWants
  /** The hubs as a subscription that begins needs them. */
  readonly source: BookSource = {
    ensure: (hub) => this.#hub(hub).link.ensure(),
    join: (hub, coins, withBooks) => this.#hub(hub).join(coins, withBooks),
    joinTypes: (hub, types) => this.#hub(hub).joinTypes(types),
    joinViews: (hub, wants) => this.#hub(hub).joinViews(wants),
  }
  readonly #ports: LinksPorts
  readonly #ages = new AgeCounts()
  readonly #books: BookFanout<Connection>
  readonly #events: EventFanout<Connection>
  readonly #l4: L4Fanout<Connection>
  #readChars = 0

  constructor(
    ports: LinksPorts,
    books: BookFanout<Connection>,
    events: EventFanout<Connection>,
    l4: L4Fanout<Connection>,
  ) {
    this.#l4 = l4
    this.#ports = ports
    this.#books = books
    this.#events = events
    this.log = this.#linkToLog()
    this.orders = new OrderWants(events.orders, l4.names, this.log)
    this.hubs = Array.from({ length: ports.shards }, (_, index) => this.#linkToHub(index))
  }

  get up(): boolean {
    return this.log.up || this.hubs.some(({ link }) => link.up)
  }

  /** Blocks are waited for. Of states, some are read without any. */
  get isNeeded(): boolean {
    return this.log.isNeeded || this.hubs.some(({ link }) => link.isNeeded)
  }

  /** Names of the coins of all hubs that answer. */
  async coins(): Promise<string[]> {
    const { shards, hub } = this.#ports
    const answers = await Promise.allSettled(Array.from({ length: shards }, (_, index) => hub(index).tops()))
    return answers.flatMap((one) => (one.status === 'fulfilled' ? (one.value?.tops ?? []) : [])).map(({ coin }) => coin)
  }

  /** Whether this coin has a book, as its hub says now; null where it cannot tell within a second. */
  async hasBook(coin: string): Promise<boolean | null> {
    const { shards, hub } = this.#ports
    const asked = hub(shardOf(coin, shards)).snapshot(coin, 1)
    const answer = await orLate(asked, HUB_WAIT_MS, null, after).catch(() => null)
    if (answer?.ok) return true
    return answer?.reason === 'unknown_coin' ? false : null
  }

  /** What the log holds of events from a height on. */
  eventsFrom(from: number): Promise<EventsAnswer> {
    const { log, relay } = this.#ports
    return orReject(log().events({ v: LOG_API_VERSION, from, relay }), LOG_WAIT_MS, after)
  }

  /** True where a frame of the log, of so many characters, is new. */
  admitsOfLog(socket: WebSocket, frame: RelayFrame, chars: number, nowMs: number): boolean {
    this.#readOfLog(chars)
    if (frame.t === 'gap') return this.log.admit(socket, frame.to, null, nowMs)
    return this.log.admit(socket, frame.height, frame.epoch ?? null, nowMs)
  }

  #readOfLog(chars: number): void {
    this.#readChars += chars
    if (this.#readChars < REPORT_CHARS) return
    this.log.say(String(this.#readChars))
    this.#readChars = 0
  }

  /** The link that a socket belongs to. */
  of(attachment: Attachment): Link | undefined {
    if (attachment.of === 'log') return this.log
    return attachment.of === 'hub' ? this.hubs[attachment.index]?.link : undefined
  }

  /** A block of this time goes out to clients. */
  sent(time: number, nowMs: number): void {
    this.#ages.add(nowMs - time)
  }

  /** What the alarm does for links: replaces silent ones, drops unneeded ones, gives coins back, reports ages. */
  watch(nowMs: number): void {
    this.#report(nowMs)
    this.log.watch(nowMs)
    this.orders.tell()
    for (const hub of this.hubs) {
      hub.link.watch(nowMs)
      // A hub that cannot be told now is told again next time, or attached to anew.
      if (hub.link.up && !this.#ports.busy()) hub.settle().catch(() => undefined)
    }
  }

  /** Books with coins of this hub cannot be continued: their sockets must connect again. */
  breakDiffs(index: number): void {
    for (const connection of this.#books.seededReceiversOf(index)) connection.broken('continuity')
  }

  /** Tells every subscriber of events that some are missing; of orders one begins anew. */
  tellGap(text: string): void {
    this.#l4.lose()
    for (const connection of this.#events.receivers()) connection.send(errorFrame(text, 'gap'))
  }

  /** One that does not arrive is missed by nobody: the next comes in a minute. */
  #report(nowMs: number): void {
    const counts = this.#ages.take(nowMs)
    if (counts === null) return
    const { relay, sockets, log } = this.#ports
    log()
      .ages({ v: LOG_API_VERSION, relay, sockets: sockets(), counts })
      .catch(() => undefined)
  }

  #hub(index: number): Hub {
    const hub = this.hubs[index]
    if (!hub) throw new Error(`there is no hub ${index}`)
    return hub
  }

  #linkToLog(): Link {
    const { relay, log, busy, needsBlocks } = this.#ports
    return new Link({
      attach: async (cursor) => {
        const reader = { kind: 'relay' } as const
        const wanted = this.orders.whole()
        const answer = await log().attach({ v: LOG_API_VERSION, name: relay, reader, cursor, ...wanted })
        this.orders.changed()
        return answer
      },
      needed: () => busy() || this.#events.size > 0 || this.#l4.size > 0 || needsBlocks(),
      lost: () => this.tellGap('The link to the feed was lost for too long: some events are missing.'),
      restarted: () => this.tellGap('The feed begins anew: block heights start over.'),
      began: () =>
        this.tellGap('The feed begins: what happened since the subscription and before its first block is missing.'),
    })
  }

  #linkToHub(index: number): Hub {
    const { relay, hub, busy } = this.#ports
    return new Hub({
      relay,
      stub: () => hub(index),
      interest: () => this.#books.interestOf(index),
      needed: () => busy() || this.#books.needs(index),
      lost: () => this.breakDiffs(index),
      restarted: () => {
        this.breakDiffs(index)
        this.#books.restart(index)
      },
    })
  }
}

/** The attachment of a dialled socket. */
export function attachmentOf(header: LinkHeader): Attachment {
  return header.from === 'log' ? { of: 'log' } : { of: 'hub', index: header.index }
}
