// Charges calls from leases held in isolate memory. credit-lease.ts has the rules; this file makes the calls and runs
// the timers. Invariants: each account and key has one exchange at a time, so each response fits the state that
// requested it; old or large spending is reported from `waitUntil` within about a second; the meter reclaims what
// cannot be reported; calls are logged in exchanges that the meter stores anyway.

import type { Identity, Product } from '../accounts/identity.ts'
import { LIMIT_FIELDS } from '../accounts/limits.ts'
import { visitorsBusy } from '../accounts/stream-token.ts'
import type { MicroCredits } from '../core/amount.ts'
import { orFallback } from '../core/deadline.ts'
import { inGroups } from '../core/digit-groups.ts'
import { type Failure, KEY_ENDED } from '../core/failure.ts'
import { Heartbeat, type HeartbeatClock } from '../core/heartbeat.ts'
import type { AccountId, KeyHash } from '../core/ids.ts'
import { SerialExchanges } from '../core/local-lease.ts'
import { err, ok, type Result } from '../core/result.ts'
import { after, sleep } from '../core/timers.client.ts'
import type { CallResult, Charging, Hold, Price } from './charging.ts'
import { CreditLease, type IsolateLease, type LeaseExchange, REPORT_EVERY_MS } from './credit-lease.ts'
import type { LeaseMeterApi } from './lease-api.ts'
import { limitsOf } from './plans/plan.ts'
import { RequestLease } from './request-lease.ts'
import { CallBuffer, LogRoom } from './request-log/call-buffer.ts'

/** Handles of one request. The pool outlives requests; these handles do not. */
export interface LeaseContext {
  meterOf(account: AccountId): LeaseMeterApi
  waitUntil(work: Promise<unknown>): void
  /** METER_FAILURE: what happens to a call that has no leased credits while the meter is unreachable. */
  readonly meterFailure: 'closed' | 'open'
  /** Called when the meter reports a key as revoked, so that the isolate forgets it. */
  onRevoked(keyHash: KeyHash): void
  /** Called each time the meter reports a changed key record. */
  onChanged?(keyHash: KeyHash, changedMs: number): void
}

export interface LeaseClock extends HeartbeatClock {
  readonly newId: () => string
}

const SYSTEM_CLOCK: LeaseClock = {
  nowMs: () => Date.now(),
  sleep,
  newId: () => crypto.randomUUID(),
}

const EXCHANGE_TIMEOUT_MS = 5_000
/** Maximum number of exchanges for a call. It is reached only if other calls take every grant first. */
const ROUNDS_MAX = 100
/** Maximum number of accounts in memory. Each takes at most 14 KB (test/http/memory-bounds.test.ts). */
export const LOCAL_ACCOUNTS_MAX = 2_000

/** Maximum number of calls that wait to be logged, of all accounts. Each takes at most 250 bytes. */
const LOGGED_MAX = 10_000
/** Calls that no exchange took are reported on their own after this time, sooner if no exchange will take them. */
const LOG_EVERY_MS = REPORT_EVERY_MS + 5_000
const LOG_ALONE_MS = REPORT_EVERY_MS - 5_000

/** These characters of a UUID have 44 random bits. A meter distinguishes 128 sources. */
const LOG_SOURCE_CHARS = 12

/** State of one (account, key) pair in this isolate. */
interface LocalAccount {
  readonly account: AccountId
  readonly credits: CreditLease
  readonly exchanges: SerialExchanges
  readonly reporter: Heartbeat
  /** Total price of calls waiting for a grant. */
  waiting: MicroCredits
  /** Request limits of this key by bucket. `limit` is the one used last. Each report refills its tokens. */
  readonly limits: Map<string, Limit>
  limit: Limit | null
  readonly log: CallBuffer
}

interface Limit {
  readonly lease: RequestLease
  /** Calls waiting for a token. */
  waiting: number
  readonly refusal: (waitMs: number) => Failure
}

export class LeasePool {
  readonly #accounts = new Map<string, LocalAccount>()
  readonly #logRoom = new LogRoom(LOGGED_MAX)
  readonly #clock: LeaseClock

  constructor(clock: LeaseClock = SYSTEM_CLOCK) {
    this.#clock = clock
  }

  /** Charging port of one request. */
  charging(context: LeaseContext): Charging {
    const begunMs = this.#clock.nowMs()
    let last: { readonly identity: Identity; readonly local: LocalAccount } | null = null
    // A request has one caller, so the account is looked up once.
    const accountOf = (identity: Identity): LocalAccount => {
      if (last?.identity !== identity) last = { identity, local: this.#accountOf(identity) }
      return last.local
    }
    return {
      hold: (identity, price) => {
        const local = accountOf(identity)
        const limit = price.isCounted ? null : limitOf(local, identity, price.product)
        const taken = this.#take(context, local, price, limit)
        if (taken !== null) return identity.token ? asTokenRefusal(taken) : taken
        const pending = this.#leaseAndTake(context, local, price, limit)
        // If `waitUntil` were not used, a caller that disconnects would count as waiting forever and inflate later
        // leases.
        context.waitUntil(pending)
        return identity.token ? pending.then(asTokenRefusal) : pending
      },
      report: (identity) => this.#report(context, accountOf(identity), this.#clock.nowMs(), true),
      limitHeaders: (identity, product, atMost = 1) =>
        limitOf(accountOf(identity), identity, product)?.lease.headers(this.#clock.nowMs(), atMost) ?? null,
      log: (identity, call) => this.#log(context, accountOf(identity), call, begunMs),
    }
  }

  #log(context: LeaseContext, local: LocalAccount, call: CallResult, begunMs: number): void {
    // Management calls are free, and the console makes many of them.
    if (call.product === 'platform') return
    local.log.add({ ...call, keyHash: local.credits.keyHash, atMs: begunMs, ms: this.#clock.nowMs() - begunMs })
    this.#ensureReporter(context, local)
  }

  async #leaseAndTake(
    context: LeaseContext,
    local: LocalAccount,
    price: Price,
    limit: Limit | null,
  ): Promise<Result<Hold, Failure>> {
    local.waiting += price.amount
    if (limit !== null) limit.waiting++
    try {
      for (let turn = 0; turn < ROUNDS_MAX; turn++) {
        await this.#exchangeFor(context, local, price.amount, limit)
        const taken = this.#take(context, local, price, limit)
        if (taken !== null) return taken
        if (local.exchanges.downMs(this.#clock.nowMs()) > 0) return this.#withoutMeter(context)
      }
      return this.#withoutMeter(context)
    } finally {
      local.waiting -= price.amount
      if (limit !== null) limit.waiting--
    }
  }

  /** Null: an exchange with the meter is needed. */
  #take(context: LeaseContext, local: LocalAccount, price: Price, limit: Limit | null): Result<Hold, Failure> | null {
    const now = this.#clock.nowMs()
    const answer = local.credits.take(price.amount, now)
    switch (answer.do) {
      case 'go': {
        const verdict = limit === null ? 'go' : limit.lease.take(now)
        local.limit = limit ?? local.limit
        if (verdict !== 'go') {
          local.credits.release(answer.lease, price.amount)
          return verdict === 'ask' || limit === null
            ? null
            : err({ ...limit.refusal(verdict.waitMs), remainingMicro: local.credits.remaining() })
        }
        this.#ensureReporter(context, local)
        return ok(this.#holdOn(context, local, answer.lease, price))
      }
      case 'refuse':
        if (answer.busyMs) return err(visitorsBusy(answer.busyMs))
        return err({
          kind: 'credits_exhausted',
          neededMicro: price.amount,
          remainingMicro: answer.remaining,
          capMicro: answer.cap,
        })
      case 'revoked':
        return err(KEY_ENDED)
      case 'ask':
        return null
    }
  }

  #holdOn(context: LeaseContext, local: LocalAccount, lease: IsolateLease, price: Price): Hold {
    const { amount, product, type } = price
    let open = true
    const finish = (end: () => void): MicroCredits => {
      if (!open) throw new Error('a hold must be settled or released exactly once')
      open = false
      end()
      this.#ensureReporter(context, local)
      return local.credits.remaining()
    }
    return {
      settle: () => finish(() => local.credits.settle(lease, amount, product, type)),
      release: () => finish(() => local.credits.release(lease, amount)),
    }
  }

  #withoutMeter(context: LeaseContext): Result<Hold, Failure> {
    if (context.meterFailure === 'open') return ok({ settle: () => null, release: () => null })
    return err({ kind: 'unavailable', what: 'The credit meter is unreachable', retryAfterMs: 1_000 })
  }

  /** Waits for the exchange in flight, or starts one for this call. */
  async #exchangeFor(
    context: LeaseContext,
    local: LocalAccount,
    amount: MicroCredits,
    limit: Limit | null,
  ): Promise<void> {
    const now = this.#clock.nowMs()
    if (local.exchanges.downMs(now) > 0) return
    if (local.exchanges.isInFlight(now)) return local.exchanges.wait(now)
    const exchange = local.credits.request(amount, local.waiting, now, this.#clock.newId)
    await this.#startExchanges(context, local, [exchange], limit)
  }

  /** Runs exchanges one after another; never rejects. */
  #startExchanges(
    context: LeaseContext,
    local: LocalAccount,
    exchanges: readonly LeaseExchange[],
    limit: Limit | null = local.limit,
  ): Promise<void> {
    const run = async () => {
      for (const exchange of exchanges)
        await this.#exchange(context, local, exchange, exchange.request.close ? null : limit)
    }
    const landed = local.exchanges.start(run, this.#clock.nowMs())
    context.waitUntil(landed)
    return landed
  }

  async #exchange(
    context: LeaseContext,
    local: LocalAccount,
    exchange: LeaseExchange,
    limit: Limit | null,
  ): Promise<void> {
    const sentAtMs = this.#clock.nowMs()
    const requests = limit?.lease.request(limit.waiting, sentAtMs) ?? null
    const log = isStored(exchange) || this.#isLogDue(local, sentAtMs) ? local.log.next(sentAtMs) : null
    const request = {
      ...exchange.request,
      ...(requests === null ? {} : { requests }),
      ...(log === null ? {} : { log }),
    }
    const send = () => orFallback(context.meterOf(local.account).lease(request), EXCHANGE_TIMEOUT_MS, null, after)
    const down = () => {
      local.exchanges.markFailed(this.#clock.nowMs())
      if (requests !== null) limit?.lease.rationLocally(this.#clock.nowMs())
    }
    try {
      // Repeating the call is harmless, because all numbers are cumulative. If the object restarted, only the first
      // call fails.
      const answer = await send().catch(send)
      if (answer === null) return down()
      if (log !== null) local.log.acknowledge(log)
      local.credits.applyResponse(exchange, answer)
      if (answer.ok && answer.requests !== undefined && requests !== null && limit !== null)
        limit.lease.applyResponse(requests, answer.requests, sentAtMs, this.#clock.nowMs())
      if (answer.changedMs !== undefined) context.onChanged?.(local.credits.keyHash, answer.changedMs)
      if (!answer.ok && answer.reason === 'revoked') context.onRevoked(local.credits.keyHash)
    } catch {
      down()
    }
  }

  #ensureReporter(context: LeaseContext, local: LocalAccount): void {
    if (local.reporter.isAlive(this.#clock.nowMs())) return
    context.waitUntil(local.reporter.run(this.#clock, (now) => this.#report(context, local, now)))
  }

  /** One round of the reporter; true while there is something to report. */
  async #report(context: LeaseContext, local: LocalAccount, now: number, all = false): Promise<boolean> {
    await local.exchanges.wait(now)
    // If another call has started an exchange meanwhile, reports wait one round.
    const isInFlight = local.exchanges.isInFlight(this.#clock.nowMs())
    const exchanges = isInFlight ? [] : local.credits.due(now, all)
    if (!isInFlight && exchanges.length === 0 && this.#isLogDue(local, now))
      exchanges.push(local.credits.request(0, 0, now, this.#clock.newId))
    if (exchanges.length > 0) await this.#startExchanges(context, local, exchanges)
    return local.credits.isBusy || !local.log.isEmpty
  }

  #isLogDue({ credits, log }: LocalAccount, now: number): boolean {
    return log.waitedMs(now) >= (credits.isBusy ? LOG_EVERY_MS : LOG_ALONE_MS)
  }

  #accountOf(identity: Identity): LocalAccount {
    const visitors = identity.token?.visitors
    const name = `${identity.account} ${identity.keyHash}${visitors ? ' visitors' : ''}`
    const known = this.#accounts.get(name)
    if (known !== undefined) return known
    if (this.#accounts.size >= LOCAL_ACCOUNTS_MAX) this.#makeRoom()
    const local: LocalAccount = {
      account: identity.account,
      credits: new CreditLease(identity.keyHash, visitors?.perHour),
      exchanges: new SerialExchanges(EXCHANGE_TIMEOUT_MS, after),
      reporter: new Heartbeat(),
      waiting: 0,
      limits: new Map(),
      limit: null,
      log: new CallBuffer(this.#clock.newId().slice(0, LOG_SOURCE_CHARS), this.#logRoom),
    }
    this.#accounts.set(name, local)
    return local
  }

  /**
   * Evicts the oldest tenth of idle accounts. If no account is idle, evicts the oldest account, whose leases the meter
   * reclaims.
   */
  #makeRoom(): void {
    let oldest: string | undefined
    let room = 0
    for (const [name, local] of this.#accounts) {
      oldest ??= name
      if (local.credits.isBusy || local.exchanges.isPending || !local.log.isEmpty) continue
      this.#accounts.delete(name)
      if (++room >= LOCAL_ACCOUNTS_MAX / 10) return
    }
    if (room > 0 || oldest === undefined) return
    this.#accounts.get(oldest)?.log.clear()
    this.#accounts.delete(oldest)
  }
}

/** Whether the meter stores something in this exchange, so that calls in it cost nothing more. */
function isStored({ request: { close, need, forecast, usage } }: LeaseExchange): boolean {
  return close || need > 0 || forecast > 0 || usage.length > 0
}

/** Marks a refusal as coming from a stream token, because a token may not see balances. */
function asTokenRefusal(held: Result<Hold, Failure>): Result<Hold, Failure> {
  return held.ok || held.error.kind !== 'credits_exhausted' ? held : err({ ...held.error, byToken: true })
}

/** The caller's plan limit for this product; null if unlimited. If the plan changes, a new bucket starts. */
function limitOf(local: LocalAccount, identity: Identity, product: Product): Limit | null {
  const bucket = BUCKET_OF[product]
  if (bucket === undefined) return null
  const perSecond = limitsOf(identity)[LIMIT_OF[bucket]]
  if (perSecond === null) return null
  const known = local.limits.get(bucket)
  if (known?.lease.perSecond === perSecond) return known
  const refusal = (waitMs: number) => rateLimited(bucket, perSecond, waitMs)
  const limit = { lease: new RequestLease(bucket, perSecond), waiting: 0, refusal }
  local.limits.set(bucket, limit)
  return limit
}

/** Products without a bucket have no request limit; stream frames and sockets are limited elsewhere. */
const BUCKET_OF: { readonly [product in Product]?: Bucket } = {
  info: 'info',
  rpc: 'rest',
  data: 'rest',
  platform: 'rest',
}
type Bucket = keyof typeof LIMIT_OF

const LIMIT_OF = { info: 'infoRequestsPerSecond', rest: 'requestsPerSecond' } as const

/** Failure for a request whose bucket is empty. */
function rateLimited(bucket: Bucket, perSecond: number, retryAfterMs: number): Failure {
  const allowed = `this account's plan allows ${inGroups(perSecond)} per second per key (${LIMIT_FIELDS[LIMIT_OF[bucket]]})`
  const hint = `Too many requests: ${allowed}. Retry after ${Math.ceil(retryAfterMs / 1000)} s.`
  return { kind: 'rate_limited', retryAfterMs, hint }
}
