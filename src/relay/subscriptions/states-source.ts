// Subscriptions of states: what info answers now, and again when it may have changed.

import type { Failure } from '../../core/failure.ts'
import type { WantedStates } from '../channel.ts'
import type { Connection } from '../sockets/connection.ts'
import type { StateFanout } from '../states/state-fanout.ts'
import { refusalOfCoins, WALLETS_FULL } from './refusals.ts'
import { type Ports, type Subscription, type SubscriptionSource, topicKey } from './subscription.ts'

export class StatesSource implements SubscriptionSource<WantedStates> {
  readonly #ports: Ports
  readonly #fanout: StateFanout<Connection>

  constructor(ports: Ports, fanout: StateFanout<Connection>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  async validate({ channel, body }: WantedStates): Promise<Failure | null> {
    const coin = channel.coin?.(body)
    return coin === undefined ? null : refusalOfCoins([coin], this.#ports)
  }

  capacity(): Failure | null {
    return this.#fanout.isFull ? WALLETS_FULL : null
  }

  attach(subscription: Subscription<WantedStates>): void {
    this.resume(subscription)
    // Without blocks a state is read every few seconds alone.
    if (this.#fanout.needsBlocks) this.#ports.waitUntil(this.#ports.ensureEvents().catch(() => undefined))
  }

  resume(subscription: Subscription<WantedStates>): void {
    const { wanted, connection } = subscription
    this.#fanout.add(topicKey(subscription), wanted, connection, connection.identity.account)
  }

  detach(subscription: Subscription): void {
    this.#fanout.remove(topicKey(subscription), subscription.connection)
  }
}
