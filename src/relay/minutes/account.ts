// One account at this relay: its sockets, its running minutes, and what follows from what its meter says. Laws: a socket
// lives on only while the meter answers and does not call its key revoked, so it ends within a minute of a revocation;
// each warning is sent once to a socket, until the account has more again.

import { visitorsBusy } from '../../accounts/stream-token.ts'
import type { MicroCredits } from '../../core/amount.ts'
import { type Failure, insufficientCredits, KEY_ENDED } from '../../core/failure.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { KeyHash } from '../../core/ids.ts'
import { limitsOf } from '../../metering/plans/plan.ts'
import type { MinuteResult, StreamResponse } from '../../metering/streams/stream-api.ts'
import { lastMinuteFrame, lowCreditsFrame } from '../../protocol/relay/frames.ts'
import type { Refusal } from '../sockets/admission.ts'
import type { Connection } from '../sockets/connection.ts'
import { type AccountStatus, MeterClient, type MeterPort } from './meter-client.ts'
import { dueCharges, type Minutes } from './minutes.ts'

/** An account is reported at least so often while it has sockets. */
const REPORT_EVERY_MS = 20_000
/**
 * Sockets end when a report fails so long after the last that was answered. Reports that fail take ten seconds at most
 * and are repeated every ten seconds, so that is within a minute.
 */
const SILENCE_MS = 35_000

export interface AccountPorts extends MeterPort {
  /** The terms of these sockets are older than `terms`: their callers are to be looked up anew. */
  refreshCallers(connections: readonly Connection[], terms: number): void
}

export class Account {
  readonly #ports: AccountPorts
  readonly #meter: MeterClient
  readonly #connections = new Set<Connection>()
  readonly #running = new Map<Minutes, Connection>()
  /** Whose first minutes are being asked for. */
  readonly #starting = new Map<Minutes, Connection>()
  /** Callers who wait to be let in, and those who were and are not here yet. */
  readonly #waiting = new Set<Connection['identity']>()
  readonly #admitted = new Set<Connection['identity']>()
  #remaining: MicroCredits = 0
  #available: MicroCredits = 0

  constructor(name: string, ports: AccountPorts) {
    this.#ports = ports
    this.#meter = new MeterClient(name, ports, {
      status: () => this.#status(),
      onReply: (answer, begun, due) => this.#onReply(answer, begun, due),
      onFailure: () => this.#endIfSilent(),
    })
  }

  /** Nothing is left to keep in mind. */
  get isIdle(): boolean {
    return this.#connections.size + this.#admitted.size === 0 && this.#meter.isIdle
  }

  /** Its meter has not heard of all that ended. */
  get hasPendingEnds(): boolean {
    return this.#meter.hasPendingEnds
  }

  /** Null where a socket may come in: `enter` follows at once, or its place is lost. */
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

  /** The socket is here: just let in, or one that outlived the relay's memory. */
  add(connection: Connection): void {
    this.#admitted.delete(connection.identity)
    this.#connections.add(connection)
  }

  remove(connection: Connection): void {
    if (this.#connections.delete(connection)) this.#meter.report()
  }

  /** Pays the first minute, with the rest of an earlier one where there is one. Rejects where the meter is away. */
  async start(minutes: Minutes, connection: Connection): Promise<MinuteResult> {
    this.#starting.set(minutes, connection)
    try {
      return await this.#meter.requestMinute(minutes)
    } finally {
      this.#starting.delete(minutes)
    }
  }

  /** Takes up one that outlived the relay's memory: its minutes are paid as they start. */
  resume(minutes: Minutes, connection: Connection): void {
    this.#running.set(minutes, connection)
  }

  /** The subscription is over; `isUnserved`: we could not serve it, and its first minute is given back. */
  stop(minutes: Minutes, isUnserved = false): void {
    if (this.#running.delete(minutes)) this.#meter.end(minutes, isUnserved)
  }

  /** False where the meter says now that there is less than this; a rest may pay for it all the same. */
  async canAfford(amount: MicroCredits): Promise<boolean> {
    if (this.#available >= amount) return true
    this.#meter.report()
    await this.#meter.settled()
    return this.#available >= amount
  }

  /** To be called every ten seconds, and every five while minutes run. */
  tick(): void {
    const { clock, relay } = this.#ports
    const now = clock.nowMs
    for (const connection of [...this.#connections]) {
      const { expires, replaced } = connection.identity
      if ((expires ?? Number.POSITIVE_INFINITY) <= now)
        connection.fail({ kind: replaced ? 'key_replaced' : 'key_expired' })
    }
    const isOwing = [...this.#running.keys()].some((minutes) => dueCharges(relay, minutes, now).length > 0)
    const { sentMs, answeredMs, isIdle } = this.#meter
    if (isOwing || now - sentMs >= REPORT_EVERY_MS || answeredMs < sentMs || !isIdle) this.#meter.report()
  }

  /** Says how things stand here, such as that all that was here has died. */
  report(): void {
    this.#meter.report()
  }

  settled(): Promise<void> {
    return this.#meter.settled()
  }

  #status(): AccountStatus {
    const here = [...this.#admitted, ...[...this.#connections].map(({ identity }) => identity)]
    // The newest caller knows the newest limits.
    const newest = [...this.#waiting].at(-1) ?? here.at(-1)
    const limits = newest ? limitsOf(newest) : { streamConnections: 0, streamSubscriptions: 0 }
    return {
      sockets: here.length,
      keys: [...new Set(here.map(({ keyHash }) => keyHash))],
      limits: { connections: limits.streamConnections, subscriptions: limits.streamSubscriptions },
      running: [...this.#running.keys()],
    }
  }

  #onReply(
    answer: StreamResponse,
    begun: readonly Minutes[],
    due: readonly { readonly minutes: Minutes; readonly answer: MinuteResult }[],
  ): void {
    for (const minutes of begun) {
      const connection = this.#starting.get(minutes)
      if (connection) this.#running.set(minutes, connection)
    }
    for (const key of answer.revoked)
      for (const connection of this.#connectionsOf(key))
        connection.fail(connection.identity.replaced ? { kind: 'key_replaced' } : KEY_ENDED)
    for (const one of due) this.#onUnpaid(one.minutes, one.answer)
    this.#warn(answer)
    this.#remaining = answer.left
    this.#available = answer.available
    const stale = [...this.#connections].filter(({ terms }) => terms !== answer.terms)
    if (stale.length > 0) this.#ports.refreshCallers(stale, answer.terms)
  }

  /** What becomes of a subscription whose minute has started and was not paid. */
  #onUnpaid(minutes: Minutes, answer: MinuteResult): void {
    const connection = this.#running.get(minutes)
    if (answer.ok || !connection) return
    if (answer.reason === 'busy') return connection.fail(visitorsBusy(answer.busyMs))
    if (answer.reason !== 'exhausted') return connection.fail(UNCHARGED)
    const { remaining: remainingMicro, cap: capMicro } = answer
    const byToken = connection.identity.token !== undefined
    const sums = { neededMicro: minutes.price, remainingMicro, capMicro, byToken }
    const short = { kind: 'credits_exhausted', ...sums } as const
    connection.fail({
      ...short,
      hint: `Credits exhausted: ${insufficientCredits(`a minute of ${minutes.type}`, short)}`,
    })
  }

  #warn({ available, left, isLow, nextMinute }: StreamResponse): void {
    const isLast = available < nextMinute
    if (!isLast && !isLow) for (const connection of this.#connections) connection.creditWarning = 'of nothing'
    else {
      const frame = isLast ? lastMinuteFrame(nextMinute, available) : lowCreditsFrame(left)
      for (const connection of new Set(this.#running.values())) {
        if (connection.creditWarning === 'of the end' || (connection.creditWarning === 'of a tenth' && !isLast))
          continue
        connection.creditWarning = isLast ? 'of the end' : 'of a tenth'
        // Behind the request at work, so that its ack comes first.
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
  what: 'charging is unavailable',
  hint: 'Streams cannot be charged at the moment: reconnect in a few seconds.',
}

/** The accounts that have something at this relay. */
export class Accounts {
  readonly #ports: AccountPorts
  readonly #byName = new Map<string, Account>()

  constructor(ports: AccountPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#byName.size
  }

  /** Something that ended was not told yet: only this object's memory has it. */
  get hasPendingEnds(): boolean {
    return [...this.#byName.values()].some((account) => account.hasPendingEnds)
  }

  of(name: string): Account {
    return getOrCreate(this.#byName, name, () => new Account(name, this.#ports))
  }

  /** Pays what is due and forgets who has gone. Accounts do not wait for one another. */
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
