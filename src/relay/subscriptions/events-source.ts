// Subscriptions of events: what happened in each block, after what was before where the channel tells that.

import type { Failure } from '../../core/failure.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { MAX_ITEMS } from '../body-fields.ts'
import { isReplayable, type WantedEvents } from '../channel.ts'
import { Candles } from '../events/candles.ts'
import type { EventFanout } from '../events/event-fanout.ts'
import { FirstFrames } from '../events/first-frames.ts'
import { FundingPayments } from '../events/funding-payments.ts'
import { OutcomeChanges } from '../events/outcome-changes.ts'
import { Replays } from '../events/replays.ts'
import type { Connection } from '../sockets/connection.ts'
import { eventCoins, NOT_READY, refusalOfCoins, WALLETS_FULL } from './refusals.ts'
import { type Ports, type Subscription, type SubscriptionSource, topicKey } from './subscription.ts'

/** Wallets and coins of events: each takes some 200 bytes, and a thousand of them cost a credit a minute. */
const MAX_NAMES = 250_000

export class EventsSource implements SubscriptionSource<WantedEvents> {
  readonly #ports: Ports
  readonly #fanout: EventFanout<Connection>
  readonly #funding: FundingPayments<Connection>
  readonly #outcomes: OutcomeChanges<Connection>
  readonly #candles: Candles<Connection>
  readonly #first: FirstFrames<Connection>
  readonly #replays: Replays<Connection>

  constructor(ports: Ports, fanout: EventFanout<Connection>) {
    this.#ports = ports
    this.#fanout = fanout
    const funding = new FundingPayments(ports, fanout)
    this.#funding = funding
    this.#outcomes = new OutcomeChanges(ports, fanout)
    this.#candles = new Candles(ports, fanout)
    this.#first = new FirstFrames(ports, fanout, (wanted, rows) => funding.had(wanted, rows))
    this.#replays = new Replays(ports, fanout)
  }

  /** A body may find no room: new sockets are better off elsewhere. */
  get isCrowded(): boolean {
    return this.#fanout.names > MAX_NAMES - MAX_ITEMS
  }

  async validate(wanted: WantedEvents): Promise<Failure | null> {
    const isUp = await this.#ports.ensureEvents().then(
      () => true,
      () => false,
    )
    return isUp ? refusalOfCoins(eventCoins(wanted), this.#ports) : NOT_READY
  }

  capacity({ channel, body }: WantedEvents): Failure | null {
    return this.#fanout.names + channel.names(body).length > MAX_NAMES ? WALLETS_FULL : null
  }

  attach(subscription: Subscription<WantedEvents>): void {
    const { wanted, connection, meta, fromBlock } = subscription
    if (fromBlock !== undefined && isReplayable(wanted)) this.replay(subscription, fromBlock)
    else if (!wanted.channel.past) this.resume(subscription)
    else this.#ports.waitUntil(this.#first.begin(topicKey(subscription), wanted, meta, connection))
  }

  resume(subscription: Subscription<WantedEvents>): void {
    const { wanted, connection, meta } = subscription
    this.#fanout.add(topicKey(subscription), wanted, meta, connection)
    this.#candles.joined(wanted)
  }

  detach(subscription: Subscription): void {
    this.#fanout.remove(topicKey(subscription), subscription.connection)
  }

  /** Tells the subscriber of the log's blocks from a height on, and then of those that come. */
  replay(subscription: Subscription<WantedEvents>, next: number): void {
    const { connection: receiver, wanted, meta, echo } = subscription
    this.#ports.waitUntil(this.#replays.begin({ key: topicKey(subscription), receiver, echo, next }, wanted, meta))
  }

  /** Sees to what a block makes due and does not hold: funding payments, outcome markets, candles. */
  follow(block: RelayEvents): void {
    const { waitUntil } = this.#ports
    if (block.funding?.length) waitUntil(this.#funding.follow(block))
    waitUntil(this.#outcomes.follow(block))
    waitUntil(this.#candles.follow(block))
  }
}
