// Invariants of minutes and credits, checked where a relay's report reaches a meter.
//
//   a report costs exactly its unpaid minutes, each once
//   no minute is charged before it starts
//   clients have paid for what they were served, except for what a killed relay had not yet reported
//   in the end, every subscription has also ended at its meter
//   granted credits equal the balance plus usage

import { MINUTE_MS } from '../../src/core/time.ts'
import type { MinuteCharge, StreamReport, StreamResponse } from '../../src/metering/streams/stream-api.ts'
import { UNPAID_MS } from '../../src/metering/streams/stream-ledger.ts'
import { type AccountSums, ledgerViolation } from '../kit/ledger-invariant.ts'

/** Of the look after minutes, twice, and of reports that have to be repeated. */
const SLACK_MS = 25_000

/** A report may come when its relay has just been killed. */
const ON_ITS_WAY_MS = 200

interface Charged {
  readonly relay: string
  readonly firstMs: number
}

/** What a meter's tables say. */
export interface MeterTables extends AccountSums {
  /** Granted, as who granted it knows. */
  readonly given: number
  /** Subscriptions that have not ended. */
  readonly running: readonly string[]
}

export class MoneyLaw {
  readonly #wrong: (what: string) => void
  readonly #checked: (what: string) => void
  readonly #nowMs: () => number
  /** `subscription ordinal` of what was paid and is durable. */
  readonly #paid = new Set<string>()
  readonly #charged = new Map<string, Charged>()
  /** When each relay was killed last, and how often all were. */
  readonly #killedMs = new Map<string, number>()
  /** By key and type: minutes that were paid, and time that was served. */
  readonly #minutes = new Map<string, number>()
  readonly #served = new Map<string, number>()
  #kills = 0
  readonly #isTimed: boolean

  /** `isTimed` false: clocks of relays jump, and what a minute is only they know. */
  constructor(wrong: (what: string) => void, checked: (what: string) => void, nowMs: () => number, isTimed: boolean) {
    this.#isTimed = isTimed
    this.#wrong = wrong
    this.#checked = checked
    this.#nowMs = nowMs
  }

  /** A report was taken and cost so much; the answer is called once that is durable. */
  reported(report: StreamReport, { minutes }: Pick<StreamResponse, 'minutes'>, costMicro: number): () => void {
    const granted = report.charges.filter((_, at) => minutes[at]!.ok).flatMap(minutesOf)
    // Of several minutes, the first ones may be paid although the last one is refused.
    const refused = report.charges.filter((_, at) => !minutes[at]!.ok).flatMap((one) => minutesOf(one).slice(0, -1))
    const isNew = (one: MinuteCharge) => !this.#paid.has(nameOf(one))
    const most = sumOf([...granted, ...refused].filter(isNew))
    const later = sumOf(granted.filter((one) => one.ordinal > 0 && isNew(one)))
    const refunds = report.ends.reduce((sum, { unserved }) => sum + (unserved?.amount ?? 0), 0)
    this.#checked('reports of minutes')
    if (costMicro > most)
      this.#wrong(`${report.relay}: minutes of ${most} micro-credits cost ${costMicro}: ${namesOf(granted)}`)
    // Where one comes again before it is durable, it may have been paid a moment ago.
    for (const charge of report.charges) this.#asked(report.relay, charge)
    return () => {
      if (costMicro < 0 && -costMicro > refunds)
        this.#wrong(`${report.relay}: ${-costMicro} micro-credits came back of ${refunds}`)
      for (const one of granted.filter(isNew)) {
        this.#paid.add(nameOf(one))
        const key = `${one.keyHash} ${one.type}`
        this.#minutes.set(key, (this.#minutes.get(key) ?? 0) + 1)
      }
      this.#checked(later > 0 ? 'reports of later minutes' : 'other reports')
    }
  }

  killed(relay: string): void {
    this.#kills++
    this.#killedMs.set(relay, this.#nowMs())
  }

  /** A subscription of this key and type, with a space between, was served for so long. */
  served(key: string, ms: number): void {
    this.#served.set(key, (this.#served.get(key) ?? 0) + ms)
  }

  /** All clients are gone, and all has been told. */
  over(account: string, tables: MeterTables): void {
    const { granted, given } = tables
    if (granted !== given) this.#wrong(`${account}: ${given} micro-credits were given, it has ${granted}`)
    const fault = ledgerViolation(tables)
    if (fault !== null) this.#wrong(`${account}: ${fault}`)
    for (const subscription of tables.running) {
      const charged = this.#charged.get(subscription)
      // Of a minute that was over when a killed relay came back, nothing is left to tell.
      if (charged && (this.#killedMs.get(charged.relay) ?? 0) >= charged.firstMs - ON_ITS_WAY_MS) continue
      this.#wrong(`${account}: ${subscription} has ended, and its meter was never told`)
    }
  }

  allPaid(): void {
    if (!this.#isTimed) return
    for (const [key, ms] of this.#served) {
      const paidMs = (this.#minutes.get(key) ?? 0) * MINUTE_MS
      this.#checked('keys with minutes served and paid')
      if (ms > paidMs + this.#kills * (UNPAID_MS + SLACK_MS)) this.#wrong(`${key}: served ${ms} ms, paid ${paidMs} ms`)
    }
  }

  #asked(relay: string, charge: MinuteCharge): void {
    const now = this.#nowMs()
    const known = this.#charged.get(charge.subscription) ?? { relay, firstMs: now }
    this.#charged.set(charge.subscription, known)
    // Its first minute may be the rest of another's.
    const earliestMs = known.firstMs + (charge.ordinal - 1) * MINUTE_MS - SLACK_MS
    if (this.#isTimed && charge.ordinal > 0 && now < earliestMs)
      this.#wrong(`${nameOf(charge)} is asked for ${earliestMs - now} ms too early`)
  }
}

/** Each minute of a charge. */
const minutesOf = (charge: MinuteCharge): MinuteCharge[] =>
  Array.from({ length: charge.count }, (_, at) => ({
    ...charge,
    ordinal: charge.ordinal - charge.count + 1 + at,
    count: 1,
  }))
const nameOf = ({ subscription, ordinal }: MinuteCharge): string => `${subscription} ${ordinal}`
const namesOf = (charges: readonly MinuteCharge[]): string => charges.map(nameOf).join(', ')
const sumOf = (charges: readonly MinuteCharge[]): number => charges.reduce((sum, { amount }) => sum + amount, 0)
