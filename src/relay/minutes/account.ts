// One account at this relay: its sockets, its current minutes, and the consequences of its meter's replies. Invariants:
// a socket lives only while the meter responds and does not report its key as revoked, so it ends within a minute of a
// revocation; each warning is sent once per socket until the account has more credits.

import { visitorsBusy } from '../../accounts/stream-token.ts'
import type { MicroCredits } from '../../core/amount.ts'
import { type Failure, insufficientCredits, KEY_ENDED } from '../../core/failure.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { KeyHash } from '../../core/ids.ts'
import { limitsOf } from '../../metering/plans/plan.ts'
import { CallBuffer, LogRoom } from '../../metering/request-log/call-buffer.ts'
import type { LoggedCall } from '../../metering/request-log/log-api.ts'
import type { MinuteResult, StreamResponse } from '../../metering/streams/stream-api.ts'
import { lastMinuteFrame, lowCreditsFrame } from '../../protocol/relay/frames.ts'
import type { Refusal } from '../sockets/admission.ts'
import type { Connection } from '../sockets/connection.ts'
import { type AccountStatus, type DueMinutes, MeterClient, type MeterPort } from './meter-client.ts'
import { dueCharge, type Minutes, mustPay } from './minutes.ts'

/** Maximum time between reports while the account has sockets. */
const REPORT_EVERY_MS = 20_000
/**
 * Sockets end when a report fails this long after the last successful one. Failing reports take at most ten seconds and
 * are repeated every ten seconds, so the total is within a minute.
 */
const SILENCE_MS = 35_000

/** A report that the meter would not store takes events that have waited this long. */
const LOG_EVERY_MS = 15_000
/** Events are dropped if the meter was unreachable for this long, because they keep the relay awake. */
const LOG_TTL_MS = 600_000
/** Maximum number of events that wait to be logged, of all accounts. */
const LOGGED_MAX = 10_000

export interface AccountPorts extends MeterPort {
  /** These sockets have terms older than `terms`, so refresh their callers. */
  refreshCallers(connections: readonly Connection[], terms: number): void
}

type EventSource = Pick<Connection, 'identity' | 'product'>

export class Account {
  readonly #ports: AccountPorts
  readonly #meter: MeterClient
  readonly #connections = new Set<Connection>()
  readonly #running = new Map<Minutes, Connection>()
  /** Minutes being requested, with their connections. */
  readonly #starting = new Map<Minutes, Connection>()
  /** Callers that wait for admission, and admitted callers without a socket yet. */
  readonly #waiting = new Set<Connection['identity']>()
  readonly #admitted = new Set<Connection['identity']>()
  readonly #log: CallBuffer
  #remaining: MicroCredits = 0
  #unpaidMax: MicroCredits = 0
  #available: MicroCredits = 0

  constructor(name: string, ports: AccountPorts, room = new LogRoom(LOGGED_MAX)) {
    this.#ports = ports
    this.#log = new CallBuffer(`${ports.relay} ${ports.clock.nowMs}`, room)
    this.#meter = new MeterClient(name, ports, {
      status: () => this.#status(),
      due: () => this.#due(),
      log: (isStored) => (isStored || this.#isLogDue ? this.#log.next(ports.clock.nowMs) : null),
      onLogged: (batch) => this.#log.acknowledge(batch),
      onReply: (reply, started, due) => this.#onReply(reply, started, due),
      onFailure: () => {
        this.#endIfSilent()
        if (this.#log.waitedMs(ports.clock.nowMs) > LOG_TTL_MS) this.#log.clear()
      },
    })
  }

  /** True if nothing is left to track. */
  get isIdle(): boolean {
    return this.#connections.size + this.#admitted.size === 0 && this.#meter.isIdle && this.#log.isEmpty
  }

  /** True if ends of subscriptions or other events have not been reported to the meter yet. */
  get hasPendingEvents(): boolean {
    return this.#meter.hasPendingEnds || !this.#log.isEmpty
  }

  /** Logs an event of a socket for the key's owner. `code`: of its error; empty if there is none. */
  log({ identity: { keyHash }, product }: EventSource, event: Pick<LoggedCall, 'type' | 'status' | 'code'>): void {
    const { nowMs: atMs } = this.#ports.clock
    this.#log.add({ ...event, keyHash, product, atMs, ms: null, micro: 0, requestId: '' })
  }

  get #isLogDue(): boolean {
    return this.#log.waitedMs(this.#ports.clock.nowMs) >= LOG_EVERY_MS
  }

  /** Null if a socket may enter. Call `add` right after it, or the slot is lost. */
  async admit(identity: Connection['identity']): Promise<Refusal | null> {
    this.#waiting.add(identity)
    try {
      const verdict = await this.#meter.connect(identity.keyHash)
      if (verdict !== 'in') return { why: verdict, left: this.#remaining }
      this.#admitted.add(identity)
      return null
    } catch {
      return { why: 'unmetered', left: 0 }
    } finally {
      this.#waiting.delete(identity)
    }
  }

  /** Adds a socket that was just admitted or restored. */
  add(connection: Connection): void {
    this.#admitted.delete(connection.identity)
    this.#connections.add(connection)
  }

  remove(connection: Connection): void {
    if (this.#connections.delete(connection)) this.#meter.report()
  }

  /** Pays the first minute, using the rest of an earlier one if there is any. Rejects if the meter is unreachable. */
  async start(minutes: Minutes, connection: Connection): Promise<MinuteResult> {
    this.#starting.set(minutes, connection)
    try {
      return await this.#meter.requestMinute(minutes)
    } finally {
      this.#starting.delete(minutes)
    }
  }

  /** Resumes minutes after hibernation. Later minutes are paid as they start. */
  resume(minutes: Minutes, connection: Connection): void {
    this.#running.set(minutes, connection)
  }

  /** Ends the minutes. `isUnserved`: we could not serve it, so the first minute is refunded. */
  stop(minutes: Minutes, isUnserved = false): void {
    if (this.#running.delete(minutes)) this.#meter.end(minutes, isUnserved)
  }

  /**
   * Returns false if the meter reports fewer credits than `amount`. The rest of an earlier minute may still pay for it.
   */
  async canAfford(amount: MicroCredits): Promise<boolean> {
    if (this.#available >= amount) return true
    this.#meter.report()
    await this.#meter.settled()
    return this.#available >= amount
  }

  /** Call it every ten seconds, and every five while minutes run. */
  tick(): void {
    const now = this.#ports.clock.nowMs
    for (const connection of [...this.#connections]) {
      const { expires, replaced } = connection.identity
      if ((expires ?? Number.POSITIVE_INFINITY) <= now)
        connection.fail({ kind: replaced ? 'key_replaced' : 'key_expired' })
    }
    const { sentMs, answeredMs, isIdle } = this.#meter
    const isDue = this.#due().length > 0 || this.#isLogDue || now - sentMs >= REPORT_EVERY_MS
    if (isDue || answeredMs < sentMs || !isIdle) this.#meter.report()
  }

  /** Reports the current status, for example that everything here has ended. */
  report(): void {
    this.#meter.report()
  }

  settled(): Promise<void> {
    return this.#meter.settled()
  }

  /** All unpaid minutes, once they must be paid. */
  #due(): DueMinutes[] {
    const { clock, relay } = this.#ports
    const due = [...this.#running.keys()].flatMap((minutes) => {
      const charge = dueCharge(relay, minutes, clock.nowMs)
      return charge === null ? [] : [{ minutes, charge }]
    })
    const charges = due.map(({ charge }) => charge)
    return mustPay(charges, this.#unpaidMax) ? due : []
  }

  #status(): AccountStatus {
    const present = [...this.#admitted, ...[...this.#connections].map(({ identity }) => identity)]
    // The newest caller has the newest limits.
    const newest = [...this.#waiting].at(-1) ?? present.at(-1)
    const limits = newest ? limitsOf(newest) : { streamConnections: 0, streamSubscriptions: 0 }
    return {
      sockets: present.length,
      keys: [...new Set(present.map(({ keyHash }) => keyHash))],
      limits: { connections: limits.streamConnections, subscriptions: limits.streamSubscriptions },
      running: [...this.#running.keys()],
    }
  }

  #onReply(
    reply: StreamResponse,
    started: readonly Minutes[],
    due: readonly { readonly minutes: Minutes; readonly answer: MinuteResult }[],
  ): void {
    for (const minutes of started) {
      const connection = this.#starting.get(minutes)
      if (connection) this.#running.set(minutes, connection)
    }
    for (const key of reply.revoked)
      for (const connection of this.#connectionsOf(key))
        connection.fail(connection.identity.replaced ? { kind: 'key_replaced' } : KEY_ENDED)
    for (const item of due) this.#onUnpaid(item.minutes, item.answer)
    this.#warn(reply)
    this.#remaining = reply.left
    this.#unpaidMax = reply.unpaidMax
    this.#available = reply.available
    const stale = [...this.#connections].filter(({ terms }) => terms !== reply.terms)
    if (stale.length > 0) this.#ports.refreshCallers(stale, reply.terms)
  }

  /** Ends a subscription whose current minute was not paid. */
  #onUnpaid(minutes: Minutes, reply: MinuteResult): void {
    const connection = this.#running.get(minutes)
    if (reply.ok || !connection) return
    if (reply.reason === 'busy') return connection.fail(visitorsBusy(reply.busyMs))
    if (reply.reason !== 'exhausted') return connection.fail(UNCHARGED)
    const { remaining: remainingMicro, cap: capMicro } = reply
    const byToken = connection.identity.token !== undefined
    const sums = { neededMicro: minutes.price, remainingMicro, capMicro, byToken }
    const failure = { kind: 'credits_exhausted', ...sums } as const
    connection.fail({
      ...failure,
      hint: `Credits exhausted: ${insufficientCredits(`a minute of ${minutes.type}`, failure)}`,
    })
  }

  #warn({ available, left, isLow, nextMinute }: StreamResponse): void {
    const isLast = available < nextMinute
    if (!isLast && !isLow) for (const connection of this.#connections) connection.creditWarning = 'none'
    else {
      const frame = isLast ? lastMinuteFrame(nextMinute, available) : lowCreditsFrame(left)
      for (const connection of new Set(this.#running.values())) {
        if (connection.creditWarning === 'last minute' || (connection.creditWarning === 'low' && !isLast)) continue
        connection.creditWarning = isLast ? 'last minute' : 'low'
        // Queued behind the current request, so that its ack comes first.
        connection.enqueue(async () => connection.send(frame))
      }
    }
  }

  #endIfSilent(): void {
    if (this.#ports.clock.nowMs - this.#meter.answeredMs < SILENCE_MS) return
    for (const connection of [...this.#connections]) connection.fail(UNCHARGED)
  }

  #connectionsOf(keyHash: KeyHash): Connection[] {
    return [...this.#connections].filter(({ identity }) => identity.keyHash === keyHash)
  }
}

const UNCHARGED: Failure = {
  kind: 'unavailable',
  what: 'Streams cannot be charged',
  hint: 'Streams cannot be charged at the moment. Reconnect in a few seconds.',
}

/** The accounts with anything at this relay. */
export class Accounts {
  readonly #ports: AccountPorts
  readonly #byName = new Map<string, Account>()
  readonly #logRoom = new LogRoom(LOGGED_MAX)

  constructor(ports: AccountPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#byName.size
  }

  /** True if some events have not been reported yet. These events are only in this object's memory. */
  get hasPendingEvents(): boolean {
    return [...this.#byName.values()].some((account) => account.hasPendingEvents)
  }

  of(name: string): Account {
    return getOrCreate(this.#byName, name, () => new Account(name, this.#ports, this.#logRoom))
  }

  /** Reports due minutes and drops idle accounts. Accounts do not wait for one another. */
  tick(): void {
    for (const [name, account] of this.#byName) {
      if (account.isIdle) this.#byName.delete(name)
      else account.tick()
    }
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((account) => account.settled()))
  }
}
