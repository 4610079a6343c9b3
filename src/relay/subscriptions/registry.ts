// The subscriptions of one relay: charged, stored, acknowledged and ended. Invariants: a rejected request leaves
// nothing behind, and rejections that took work are rate-limited per key.

import { type Identity, limiterKey } from '../../accounts/identity.ts'
import { LIMIT_FIELDS } from '../../accounts/limits.ts'
import { VISITOR_MINUTES, visitorsBusy } from '../../accounts/stream-token.ts'
import type { MicroCredits } from '../../core/amount.ts'
import { inGroups } from '../../core/digit-groups.ts'
import { type Failure, insufficientCredits, KEY_ENDED } from '../../core/failure.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import { RateLimiter } from '../../core/rate-limiter.ts'
import { UnbilledLimiter, unbilledLimitFailure } from '../../core/unbilled-limiter.ts'
import { limitsOf } from '../../metering/plans/plan.ts'
import type { MinuteResult } from '../../metering/streams/stream-api.ts'
import { refusedSubscription } from '../../protocol/relay/failure-frame.ts'
import { ackFrame, errorFrame } from '../../protocol/relay/frames.ts'
import { isReplayable, minutePrice } from '../channel.ts'
import type { Account } from '../minutes/account.ts'
import { type Minutes, PREVIEW_CHARS } from '../minutes/minutes.ts'
import type { Connection } from '../sockets/connection.ts'
import { NOT_READY } from './refusals.ts'
import type { Ports, Request, Subscription } from './subscription.ts'

/** The part of a request that its reply needs. */
type Replied = Pick<Request, 'connection' | 'echo' | 'target'>
const NONE: ReadonlyMap<string, Subscription> = new Map()

export class SubscriptionRegistry {
  readonly #ports: Ports
  readonly #byConnection = new Map<Connection, Map<string, Subscription>>()
  readonly #unbilled = new UnbilledLimiter()
  readonly #visitors = new RateLimiter()
  size = 0

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Subscriptions of a connection by the identity of their bodies. */
  of(connection: Connection): ReadonlyMap<string, Subscription> {
    return this.#byConnection.get(connection) ?? NONE
  }

  accountOf({ identity }: Connection): Account {
    return this.#ports.accounts.of(identity.account)
  }

  /** Counts an unbilled response. Returns false and notifies the client if its key had too many of them. */
  allowUnbilled(request: Replied): boolean {
    return this.#allow(request, 'take')
  }

  /**
   * Call it before archive work that may turn out unbilled. Returns false and notifies the client if its key has
   * caused too much of this work.
   */
  allowArchiveWork(request: Replied): boolean {
    return this.#allow(request, 'tryUpstream')
  }

  #allow(request: Replied, by: 'take' | 'tryUpstream'): boolean {
    const { connection } = request
    const waitMs = this.#unbilled[by](limiterKey(connection.identity), this.#ports.clock.nowMs)
    if (waitMs > 0) reject(request, unbilledLimitFailure(waitMs))
    return waitMs === 0
  }

  /** Rejects a request after unpaid work, which is rate-limited per key. */
  rejectUnbilled(request: Replied, failure: Failure): void {
    if (this.allowUnbilled(request)) reject(request, failure)
  }

  /**
   * Charges the first minute, or resumes the rest of a paid minute. Returns null if the minute was refused; the client
   * has then been notified. If the connection has ended meanwhile, the caller must refund the minute.
   */
  async pay(request: Request): Promise<Minutes | null> {
    const { connection, target, identity, echo } = request
    const { token, keyHash } = connection.identity
    if (token?.visitors && !this.#allowVisitorMinute(token.holder, request)) return null
    const id = this.#ports.newId()
    const body = await this.#ports.digest(identity)
    const minutes: Minutes = {
      id,
      keyHash,
      type: target.channel.type,
      price: minutePrice(target),
      body,
      sinceMs: this.#ports.clock.nowMs,
      paid: 0,
      preview: echo.slice(0, PREVIEW_CHARS),
      visitorsPerHour: token?.visitors?.perHour,
    }
    const reply = await this.accountOf(connection)
      .start(minutes, connection)
      .catch(() => null)
    if (!reply?.ok) {
      if (reply?.reason === 'revoked') connection.fail(KEY_ENDED)
      // An unpaid visitor's socket would keep another visitor out.
      else if (reply?.reason === 'busy') connection.fail(visitorsBusy(reply.busyMs))
      else this.rejectUnbilled(request, reply ? minuteFailure(reply, minutes.price, connection.identity) : NOT_READY)
      return null
    }
    this.#unbilled.refundTry(limiterKey(connection.identity), this.#ports.clock.nowMs)
    return minutes
  }

  /** Refunds minutes whose subscription did not start. */
  refund(connection: Connection, minutes: Minutes): void {
    this.accountOf(connection).stop(minutes, true)
  }

  /** Returns false and notifies the client if a visitor without a key starts too many minutes. */
  #allowVisitorMinute(holder: string, request: Request): boolean {
    const { waitMs: retryAfterMs } = this.#visitors.take(holder, VISITOR_MINUTES, this.#ports.clock.nowMs)
    if (retryAfterMs > 0) reject(request, { kind: 'rate_limited', retryAfterMs, limit: VISITOR_MINUTES })
    return retryAfterMs === 0
  }

  /** Stores the subscription and acknowledges it. */
  acknowledge(subscription: Subscription): void {
    const { connection, target, fromBlock } = subscription
    this.store(subscription)
    this.sendAck(subscription)
    if (fromBlock === undefined || isReplayable(target)) return
    const text = `fromBlock: block ${fromBlock} cannot be replayed. Live data follows; leave "fromBlock" out.`
    connection.send(errorFrame(text, 'replay_unavailable'))
  }

  /** Sends an acknowledgement, and logs it for the key's owner. */
  sendAck({ connection, echo, target }: Replied): void {
    connection.send(ackFrame('subscribe', echo))
    this.accountOf(connection).log(connection, { type: target.channel.type, status: 200, code: '' })
  }

  store(subscription: Subscription): void {
    const { connection, identity } = subscription
    getOrCreate(this.#byConnection, connection, () => new Map()).set(identity, subscription)
    this.size++
    this.#ports.save(subscription)
  }

  /** Persists a change of its paid time. */
  persist(subscription: Subscription): void {
    const { connection, identity, minutes } = subscription
    if (this.of(connection).get(identity)?.minutes === minutes) this.#ports.save(subscription)
  }

  /** Ends the subscription. `isUnserved`: we could not serve it, so the minute is refunded. */
  drop(subscription: Subscription, isUnserved = false): void {
    const { connection, minutes } = subscription
    this.release(subscription)
    this.accountOf(connection).stop(minutes, isUnserved || (minutes.paused !== undefined && connection.isBroken))
    this.#ports.forget(subscription)
  }

  /** Detaches the subscription. Its minutes now belong to another subscription. */
  release(subscription: Subscription): void {
    const { source, connection, identity } = subscription
    source.detach(subscription)
    const bodies = this.#byConnection.get(connection)
    if (bodies?.delete(identity)) this.size--
    if (bodies?.size === 0) this.#byConnection.delete(connection)
  }
}

/** Notifies the client of a rejected body. */
export function reject({ connection, echo, target }: Replied, failure: Failure): void {
  connection.reject(failure, refusedSubscription(echo, failure), target.channel.type)
}

/** Failure for a first minute that was not granted. `price` is the price of the minute. */
function minuteFailure(reply: MinuteResult & { ok: false }, price: MicroCredits, identity: Identity): Failure {
  switch (reply.reason) {
    case 'revoked':
      return KEY_ENDED
    case 'limit': {
      const max = limitsOf(identity).streamSubscriptions
      const limit = LIMIT_FIELDS.streamSubscriptions
      const hint = `${limit}: this account's plan allows ${inGroups(max)} at a time. Unsubscribe from some, or ask for a larger plan`
      return { kind: 'limit_reached', limit, most: max, hint }
    }
    case 'exhausted': {
      const { remaining: remainingMicro, cap: capMicro } = reply
      const sums = { neededMicro: price, remainingMicro, capMicro, byToken: identity.token !== undefined }
      const failure = { kind: 'credits_exhausted', ...sums } as const
      return { ...failure, hint: insufficientCredits('a minute', failure) }
    }
    case 'busy':
      return visitorsBusy(reply.busyMs)
    case 'ended':
      return { kind: 'unavailable', what: 'the data', hint: 'the subscription was interrupted. Subscribe again' }
  }
}
