// The subscriptions of one relay: each is paid for, kept, acknowledged, and ends.
// Invariants: nothing of a refused request stays behind; refusals that took work are few a second for each key.

import { type Identity, limiterKey } from '../../accounts/identity.ts'
import { LIMIT_FIELDS } from '../../accounts/limits.ts'
import { VISITOR_MINUTES, visitorsBusy } from '../../accounts/stream-token.ts'
import type { MicroCredits } from '../../core/amount.ts'
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

type RejectedRequest = Pick<Request, 'connection' | 'echo' | 'target'>
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

  /** The subscriptions of a connection by the identity of their bodies. */
  of(connection: Connection): ReadonlyMap<string, Subscription> {
    return this.#byConnection.get(connection) ?? NONE
  }

  accountOf({ identity }: Connection): Account {
    return this.#ports.accounts.of(identity.account)
  }

  /** Counts an unbilled answer. False, and the client was told, where its key has had too many of them. */
  allowUnbilled(request: RejectedRequest): boolean {
    return this.#allow(request, 'take')
  }

  /** Before work at the archive, which may come to nothing. False, and the client was told, where too much of it did. */
  allowArchiveWork(request: RejectedRequest): boolean {
    return this.#allow(request, 'tryUpstream')
  }

  #allow(request: RejectedRequest, by: 'take' | 'tryUpstream'): boolean {
    const { connection } = request
    const waitMs = this.#unbilled[by](limiterKey(connection.identity), this.#ports.clock.nowMs)
    if (waitMs > 0) reject(request, unbilledLimitFailure(waitMs))
    return waitMs === 0
  }

  /** A refusal that took work and that nobody pays for. */
  rejectUnbilled(request: RejectedRequest, failure: Failure): void {
    if (this.allowUnbilled(request)) reject(request, failure)
  }

  /**
   * The first minute, or the rest of one that was paid before; null, and the client was told, where it is refused. The
   * connection may have ended meanwhile: then it is to be refunded.
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
    const answer = await this.accountOf(connection)
      .start(minutes, connection)
      .catch(() => null)
    if (!answer?.ok) {
      if (answer?.reason === 'revoked') connection.fail(KEY_ENDED)
      // A visitor's socket that nobody pays for would keep the place of another's.
      else if (answer?.reason === 'busy') connection.fail(visitorsBusy(answer.busyMs))
      else this.rejectUnbilled(request, answer ? minuteFailure(answer, minutes.price, connection.identity) : NOT_READY)
      return null
    }
    this.#unbilled.refundTry(limiterKey(connection.identity), this.#ports.clock.nowMs)
    return minutes
  }

  /** Gives back minutes whose subscription did not begin. */
  refund(connection: Connection, minutes: Minutes): void {
    this.accountOf(connection).stop(minutes, true)
  }

  /** False, and the client was told, where a visitor without a key begins too many minutes. */
  #allowVisitorMinute(holder: string, request: Request): boolean {
    const { waitMs: retryAfterMs } = this.#visitors.take(holder, VISITOR_MINUTES, this.#ports.clock.nowMs)
    if (retryAfterMs > 0) reject(request, { kind: 'rate_limited', retryAfterMs, limit: VISITOR_MINUTES })
    return retryAfterMs === 0
  }

  /** Keeps the subscription and tells its client that it has begun. */
  acknowledge(subscription: Subscription): void {
    const { connection, echo, target, fromBlock } = subscription
    this.store(subscription)
    connection.send(ackFrame('subscribe', echo))
    if (fromBlock === undefined || isReplayable(target)) return
    const text = `fromBlock: block ${fromBlock} cannot be replayed; live data follows. Leave "fromBlock" out.`
    connection.send(errorFrame(text, 'replay_unavailable'))
  }

  store(subscription: Subscription): void {
    const { connection, identity } = subscription
    getOrCreate(this.#byConnection, connection, () => new Map()).set(identity, subscription)
    this.size++
    this.#ports.save(subscription)
  }

  /** Its paid time has moved. */
  persist(subscription: Subscription): void {
    const { connection, identity, minutes } = subscription
    if (this.of(connection).get(identity)?.minutes === minutes) this.#ports.save(subscription)
  }

  /** The subscription is over; `isUnserved`: we could not serve it, and the minute is given back. */
  drop(subscription: Subscription, isUnserved = false): void {
    const { connection, minutes } = subscription
    this.release(subscription)
    this.accountOf(connection).stop(minutes, isUnserved || (minutes.paused !== undefined && connection.isBroken))
    this.#ports.forget(subscription)
  }

  /** It gets nothing more, and its minutes are another's. */
  release(subscription: Subscription): void {
    const { source, connection, identity } = subscription
    source.detach(subscription)
    const own = this.#byConnection.get(connection)
    if (own?.delete(identity)) this.size--
    if (own?.size === 0) this.#byConnection.delete(connection)
  }
}

/** Tells the client of a body that is refused. */
export function reject({ connection, echo, target }: RejectedRequest, failure: Failure): void {
  connection.reject(failure, refusedSubscription(echo, failure), target.channel.type)
}

/** Why a first minute was not granted; `price` is the minute's. */
function minuteFailure(answer: MinuteResult & { ok: false }, price: MicroCredits, identity: Identity): Failure {
  switch (answer.reason) {
    case 'revoked':
      return KEY_ENDED
    case 'limit': {
      const most = limitsOf(identity).streamSubscriptions
      const limit = LIMIT_FIELDS.streamSubscriptions
      const hint = `${limit}: this account's plan allows ${most} at a time: end some, or ask for a larger plan`
      return { kind: 'limit_reached', limit, most, hint }
    }
    case 'exhausted': {
      const { remaining: remainingMicro, cap: capMicro } = answer
      const sums = { neededMicro: price, remainingMicro, capMicro, byToken: identity.token !== undefined }
      const short = { kind: 'credits_exhausted', ...sums } as const
      return { ...short, hint: insufficientCredits('a minute', short) }
    }
    case 'busy':
      return visitorsBusy(answer.busyMs)
    case 'ended':
      return { kind: 'unavailable', what: 'the data', hint: 'it was lost on its way: subscribe again' }
  }
}
