// Event subscriptions: history first if the channel has one, then the events of each block.

import type { Failure } from '../../core/failure.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { MAX_ITEMS } from '../body-fields.ts'
import { type EventsTarget, isReplayable } from '../channel.ts'
import { Candles } from '../events/candles.ts'
import type { EventFanout } from '../events/event-fanout.ts'
import { FirstFrames } from '../events/first-frames.ts'
import { FundingPayments } from '../events/funding-payments.ts'
import { LogReplays } from '../events/log-replays.ts'
import { OutcomeChanges } from '../events/outcome-changes.ts'
import type { Connection } from '../sockets/connection.ts'
import { coinsFailure, eventCoins, NOT_READY, WALLET_LIMIT_REACHED } from './refusals.ts'
import { type Ports, type Subscription, type SubscriptionSource, topicKey } from './subscription.ts'

/**
 * Maximum number of wallets and coins in all event bodies. Each takes about 200 bytes, and a thousand cost one credit a
 * minute.
 */
const MAX_NAMES = 250_000

export class EventsSource implements SubscriptionSource<EventsTarget> {
  readonly #ports: Ports
  readonly #fanout: EventFanout<Connection>
  readonly #funding: FundingPayments<Connection>
  readonly #outcomes: OutcomeChanges<Connection>
  readonly #candles: Candles<Connection>
  readonly #first: FirstFrames<Connection>
  readonly #replays: LogReplays<Connection>

  constructor(ports: Ports, fanout: EventFanout<Connection>) {
    this.#ports = ports
    this.#fanout = fanout
    const funding = new FundingPayments(ports, fanout)
    this.#funding = funding
    this.#outcomes = new OutcomeChanges(ports, fanout)
    this.#candles = new Candles(ports, fanout)
    this.#first = new FirstFrames(ports, fanout, (target, rows) => funding.onHistory(target, rows))
    this.#replays = new LogReplays(ports, fanout)
  }

  /** True if another body may not fit. New sockets should then go to another relay. */
  get isCrowded(): boolean {
    return this.#fanout.names > MAX_NAMES - MAX_ITEMS
  }

  async validate(target: EventsTarget): Promise<Failure | null> {
    const isUp = await this.#ports.ensureLog().then(
      () => true,
      () => false,
    )
    return isUp ? coinsFailure(eventCoins(target), this.#ports) : NOT_READY
  }

  capacity({ channel, body }: EventsTarget): Failure | null {
    return this.#fanout.names + channel.names(body).length > MAX_NAMES ? WALLET_LIMIT_REACHED : null
  }

  attach(subscription: Subscription<EventsTarget>): void {
    const { target, connection, meta, fromBlock } = subscription
    if (fromBlock !== undefined && isReplayable(target)) this.replay(subscription, fromBlock)
    else if (!target.channel.history) this.resume(subscription)
    else this.#ports.waitUntil(this.#first.start(topicKey(subscription), target, meta, connection))
  }

  resume(subscription: Subscription<EventsTarget>): void {
    const { target, connection, meta } = subscription
    this.#fanout.add(topicKey(subscription), target, meta, connection)
    this.#candles.onSubscribe(target)
  }

  detach(subscription: Subscription): void {
    this.#fanout.remove(topicKey(subscription), subscription.connection)
  }

  /** Sends the log's blocks starting at a height, then live blocks. */
  replay(subscription: Subscription<EventsTarget>, next: number): void {
    const { connection: receiver, target, meta, echo } = subscription
    this.#ports.waitUntil(
      this.#replays.start({ key: topicKey(subscription), receiver, echo, nextHeight: next }, target, meta),
    )
  }

  /** Fetches what a block triggers but does not contain: funding payments, outcome markets, candles. */
  onBlock(block: RelayEvents): void {
    const { waitUntil } = this.#ports
    if (block.funding?.length) waitUntil(this.#funding.onBlock(block))
    waitUntil(this.#outcomes.onBlock(block))
    waitUntil(this.#candles.onBlock(block))
  }
}
