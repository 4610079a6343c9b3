// A meter's rules for streams. The caller owns the table that they work on. Invariants
// (test/metering/streams/stream-ledger.test.ts and test/relay/minutes/minutes-invariants.test.ts): a minute is charged at most
// once; the rest of a paid minute serves one new subscription with the same key and body, and a minute that used such a
// rest leaves none itself; unserved minutes are refunded once; an ended subscription is never charged again, even if
// reports are lost, repeated or late. So the time served never exceeds the time charged. Minutes that have passed are
// charged even if their key has since been revoked, has expired or has a lower cap, because they were served. Their cap
// is then exceeded by at most what the meter left unpaid. A minute that has just started is not charged beyond the cap.

import type { MicroCredits } from '../../core/amount.ts'
import type { KeyHash } from '../../core/ids.ts'
import { keyHashOf } from '../../core/ids.ts'
import { MINUTE_MS } from '../../core/time.ts'
import type { AccountState } from '../account-state.ts'
import { METER_API_VERSION } from '../meter-version.ts'
import { CHEAPEST_MINUTE } from '../tariff.ts'
import type {
  ConnectVerdict,
  Exhausted,
  MinuteCharge,
  MinuteResult,
  StreamEnd,
  StreamReport,
  StreamResponse,
  VisitorsBusy,
} from './stream-api.ts'

/** How long the rest of a minute is kept for a new subscription. */
const REST_TTL_MS = 60_000
/**
 * A relay may repeat the report of an end for this long. The meter remembers the end for longer, so it processes each
 * end once.
 */
export const END_REPORTS_MS = 3_600_000
/**
 * A relay reports every 20 s. One that sends no report for this long no longer counts. The time is written rarely, because
 * a relay that restarts reports at once.
 */
const PRESENCE_MS = 12 * MINUTE_MS
const PRESENCE_MIN_MS = 2 * MINUTE_MS
/** A subscription's minutes are paid at the latest when it has this many unpaid ones. */
export const UNPAID_MINUTES = 10
/** An active subscription was last paid for at most this long before its paid minute ended. */
export const UNPAID_MS = UNPAID_MINUTES * MINUTE_MS + 30_000

/** A subscription with its last paid minute. */
export interface StreamRow {
  readonly subscription: string
  readonly keyHash: KeyHash
  readonly body: string
  readonly ordinal: number
  /** End of the paid minute by the meter's clock. */
  readonly untilMs: number
  /** True if the minute is the rest of an earlier minute. A rest is used only once. */
  readonly borrowed: boolean
  /**
   * Null while the subscription is active. Afterwards, the rest that a new subscription may use until `keptUntilMs`; 0
   * once it is used.
   */
  readonly restMs: number | null
  readonly keptUntilMs: number
  /** Shown in the owner's list. */
  readonly type: string
  readonly amount: MicroCredits
  readonly sinceMs: number
  readonly shown: string
}

/** Latest state of the account on one relay. */
export interface RelayPresence {
  readonly relay: string
  readonly life: number
  readonly sockets: number
  readonly subscriptions: number
  readonly perMinute: MicroCredits
  readonly untilMs: number
}

export interface StreamTable {
  stream(subscription: string): StreamRow | null
  putStream(row: StreamRow): void
  /** Subscription with the longest stored rest for this key and body. */
  rest(keyHash: KeyHash, body: string, nowMs: number): StreamRow | null
  hasRest(keyHash: KeyHash, nowMs: number): boolean
  /** Active subscriptions of a relay whose paid minute ended at most UNPAID_MS ago. */
  running(relay: string, nowMs: number): StreamRow[]
  presences(): RelayPresence[]
  /** Stores the entry, or deletes it if it has no sockets. */
  putPresence(presence: RelayPresence): void
  /** Number of times that the terms of the account's callers have changed. */
  terms(): number
}

/** Result of charging a minute. */
export type Payment = { readonly ok: true } | Exhausted | VisitorsBusy

/** The part of the account's ledger that streams use. */
export interface StreamPayer {
  account(): AccountState
  /** Spent and held credits at the start of the plan's period. */
  usedBefore(): MicroCredits
  isRevoked(keyHash: KeyHash): boolean
  /** `isServed`: the minute has passed, so the key's cap does not apply. */
  charge(minute: MinuteCharge, nowMs: number, isServed: boolean): Payment
  /** Refunds a charge that was made at `chargedMs`. */
  refund(minute: Pick<MinuteCharge, 'keyHash' | 'type' | 'amount'>, nowMs: number, chargedMs: number): void
  /** Amount that may be unpaid while only these keys spend. */
  unpaidMax(keys: readonly KeyHash[]): MicroCredits
}

export class StreamLedger {
  readonly #table: StreamTable
  readonly #payer: StreamPayer

  constructor(table: StreamTable, payer: StreamPayer) {
    this.#table = table
    this.#payer = payer
  }

  /** Applies one report inside one transaction. */
  apply(report: StreamReport, nowMs: number): StreamResponse {
    const presences = this.#table.presences()
    const known = presences.find(({ relay }) => relay === report.relay) ?? null
    const others = presences.filter((one) => one !== known && one.untilMs > nowMs)
    const elsewhere = (of: 'sockets' | 'subscriptions' | 'perMinute') => others.reduce((sum, one) => sum + one[of], 0)
    // If the first report is late or repeated, the meter already knows its start and closes nothing.
    if (report.alive !== null && known !== null && known.life < report.life) {
      this.#closeOrphans(report.relay, new Set(report.alive), nowMs)
    }
    const { minutes, started } = this.#minutes(report, elsewhere('subscriptions'), nowMs)
    const connects = this.#connects(report, elsewhere('sockets'), nowMs)
    const entered = connects.filter((verdict) => verdict === 'in').length
    this.#storePresence(
      known,
      {
        relay: report.relay,
        life: report.life,
        sockets: report.sockets + entered,
        subscriptions: report.subscriptions + started.count,
        perMinute: report.perMinute + started.perMinute,
        untilMs: nowMs + PRESENCE_MS,
      },
      nowMs,
    )
    const { available, held, granted } = this.#payer.account()
    return {
      v: METER_API_VERSION,
      connects,
      minutes,
      revoked: report.keys.filter((key) => this.#payer.isRevoked(key)),
      available,
      left: available + held,
      unpaidMax: this.#payer.unpaidMax(report.keys),
      isLow: available + held <= Math.floor((granted - this.#payer.usedBefore()) / 10),
      nextMinute: elsewhere('perMinute') + report.perMinute + started.perMinute,
      terms: this.#table.terms(),
    }
  }

  /** A caller that has no credits may still connect to use the rest of a paid minute. */
  #connects({ connects, sockets, limits }: StreamReport, elsewhere: number, nowMs: number): ConnectVerdict[] {
    const { available, held } = this.#payer.account()
    let room = limits.connections - elsewhere - sockets
    return connects.map((keyHash) => {
      if (this.#payer.isRevoked(keyHash)) return 'revoked'
      if (available + held < CHEAPEST_MINUTE && !this.#table.hasRest(keyHash, nowMs)) return 'exhausted'
      return room-- > 0 ? 'in' : 'limit'
    })
  }

  /**
   * Charges later minutes first, because a subscription that ends may still owe one. Then it processes the ends. First
   * minutes come last, because they may use the rest that an end leaves.
   */
  #minutes({ charges, ends, limits, subscriptions }: StreamReport, elsewhere: number, nowMs: number) {
    const room = limits.subscriptions - elsewhere - subscriptions
    const answers = new Map<MinuteCharge, MinuteResult>()
    const unpaid = new Set<string>()
    for (const charge of charges) {
      if (charge.ordinal === 0) continue
      const answer = this.#minute(charge, nowMs)
      answers.set(charge, answer)
      if (!answer.ok) unpaid.add(charge.subscription)
    }
    // A minute whose charge was refused leaves no rest.
    for (const end of ends) this.#end(unpaid.has(end.subscription) ? { ...end, leftMs: 0 } : end, nowMs)
    let count = 0
    let perMinute = 0
    for (const charge of charges) {
      if (charge.ordinal > 0) continue
      const isNew = this.#table.stream(charge.subscription) === null
      const answer = isNew && count >= room ? LIMIT : this.#minute(charge, nowMs)
      answers.set(charge, answer)
      if (!answer.ok) continue
      count++
      perMinute += charge.amount
    }
    return { minutes: charges.map((charge) => answers.get(charge) ?? LIMIT), started: { count, perMinute } }
  }

  #minute(charge: MinuteCharge, nowMs: number): MinuteResult {
    const row = this.#table.stream(charge.subscription)
    if (row !== null && row.restMs !== null) return { ok: false, reason: 'ended' }
    if (row !== null && charge.ordinal <= row.ordinal) return { ok: true, leftMs: row.untilMs - nowMs }
    // Later minutes have started before they are requested. The response ends the sockets of revoked keys.
    if (charge.ordinal === 0 && this.#payer.isRevoked(charge.keyHash)) return { ok: false, reason: 'revoked' }
    const rest = charge.ordinal === 0 ? this.#table.rest(charge.keyHash, charge.body, nowMs) : null
    if (rest === null) {
      const refusal = this.#pay(charge, row, nowMs)
      if (refusal !== null) return refusal
    } else this.#table.putStream({ ...rest, restMs: 0 })
    const leftMs = rest?.restMs ?? Math.min(charge.leftMs, MINUTE_MS)
    const { subscription, keyHash, body, ordinal, type, amount } = charge
    const minute = { untilMs: nowMs + leftMs, borrowed: rest !== null, restMs: null, keptUntilMs: 0 }
    const details = { type, amount, sinceMs: row?.sinceMs ?? nowMs, shown: charge.shown ?? row?.shown ?? '' }
    this.#table.putStream({ subscription, keyHash, body, ordinal, ...minute, ...details })
    return { ok: true, leftMs }
  }

  /** Charges the minutes that are not paid yet, one after another. Null if all are paid. */
  #pay(charge: MinuteCharge, row: StreamRow | null, nowMs: number): Exclude<Payment, { readonly ok: true }> | null {
    const first = row === null ? charge.ordinal : Math.max(row.ordinal, charge.ordinal - charge.count) + 1
    for (let ordinal = first; ordinal <= charge.ordinal; ordinal++) {
      const paid = this.#payer.charge({ ...charge, ordinal }, nowMs, ordinal < charge.ordinal)
      if (paid.ok) continue
      if (row !== null && ordinal > first) this.#table.putStream({ ...row, ordinal: ordinal - 1 })
      return paid
    }
    return null
  }

  #end({ subscription, body, leftMs, unserved }: StreamEnd, nowMs: number): void {
    const row = this.#table.stream(subscription)
    if (row?.restMs === null && unserved && row.ordinal === 0) {
      // If the rest of an earlier minute served nothing, it may be used again.
      if (!row.borrowed) this.#payer.refund({ ...unserved, keyHash: row.keyHash }, nowMs, row.untilMs - MINUTE_MS)
      this.#close({ ...row, body, borrowed: false }, row.borrowed ? leftMs : 0, nowMs)
    } else if (row !== null) this.#close({ ...row, body }, leftMs, nowMs)
    // The end was reported before the first minute. If that minute's report arrives later, it must not be charged.
    else this.#table.putStream({ ...NEVER_PAID, subscription, body, keptUntilMs: nowMs })
  }

  /** Ends the subscriptions that a relay no longer has after a restart. Their real end time is unknown. */
  #closeOrphans(relay: string, alive: ReadonlySet<string>, nowMs: number): void {
    for (const row of this.#table.running(relay, nowMs)) {
      if (!alive.has(row.subscription)) this.#close(row, row.untilMs - nowMs, nowMs)
    }
  }

  #close(row: StreamRow, leftMs: number, nowMs: number): void {
    if (row.restMs !== null) return
    const restMs = row.borrowed ? 0 : Math.max(0, Math.min(leftMs, MINUTE_MS))
    this.#table.putStream({ ...row, restMs, keptUntilMs: nowMs + REST_TTL_MS })
  }

  /** Writes the entry only if it changed or is about to expire, because most reports repeat the previous report. */
  #storePresence(known: RelayPresence | null, next: RelayPresence, nowMs: number): void {
    if ((known === null && next.sockets === 0) || (known !== null && known.life > next.life)) return
    const isSame =
      known?.life === next.life &&
      known.sockets === next.sockets &&
      known.subscriptions === next.subscriptions &&
      known.perMinute === next.perMinute
    if (!isSame || known.untilMs - nowMs < PRESENCE_MIN_MS) this.#table.putPresence(next)
  }
}

const NO_DETAILS = { type: '', amount: 0, sinceMs: 0, shown: '' }
const NEVER_PAID = { ...NO_DETAILS, keyHash: keyHashOf(''), ordinal: -1, untilMs: 0, borrowed: false, restMs: 0 }
const LIMIT: MinuteResult = { ok: false, reason: 'limit' }
