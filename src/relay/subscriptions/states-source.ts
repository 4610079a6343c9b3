// State subscriptions: the current info response, fetched again when it may have changed.

import type { Failure } from '../../core/failure.ts'
import type { StatesTarget } from '../channel.ts'
import type { Connection } from '../sockets/connection.ts'
import type { StateFanout } from '../states/state-fanout.ts'
import { coinsFailure, WALLET_LIMIT_REACHED } from './refusals.ts'
import { type Ports, type Subscription, type SubscriptionSource, topicKey } from './subscription.ts'

export class StatesSource implements SubscriptionSource<StatesTarget> {
  readonly #ports: Ports
  readonly #fanout: StateFanout<Connection>

  constructor(ports: Ports, fanout: StateFanout<Connection>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  async validate({ channel, body }: StatesTarget): Promise<Failure | null> {
    const coin = channel.coin?.(body)
    return coin === undefined ? null : coinsFailure([coin], this.#ports)
  }

  capacity(): Failure | null {
    return this.#fanout.isFull ? WALLET_LIMIT_REACHED : null
  }

  attach(subscription: Subscription<StatesTarget>): void {
    this.resume(subscription)
    // Without blocks, a state is refreshed only every few seconds.
    if (this.#fanout.needsBlocks) this.#ports.waitUntil(this.#ports.ensureLog().catch(() => undefined))
  }

  resume(subscription: Subscription<StatesTarget>): void {
    const { target, connection } = subscription
    this.#fanout.add(topicKey(subscription), target, connection, connection.identity.account)
  }

  detach(subscription: Subscription): void {
    this.#fanout.remove(topicKey(subscription), subscription.connection)
  }
}
