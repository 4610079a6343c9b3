// What one client was served, and the bounds of what its key may have been charged, in micro-credits. Invariants: a
// minute served but not charged raises `least` above the charge; a minute charged twice raises the charge above `most`.
// Unknowns widen the bounds: when a disconnect was noticed, and whether a lost response was counted.

import type { MicroCredits } from '../../src/core/amount.ts'
import { REPORT_EVERY_MS } from '../../src/metering/credit-lease.ts'
import { UNPAID_MINUTES } from '../../src/metering/streams/stream-ledger.ts'

const MINUTE_MS = 60_000
/** Of an end or a beginning, as the two sides see it, and a minute that started so shortly before an end (docs/internals/decisions/05-metering.md). */
const SLACK_MS = 10_000
/** A relay that dies has not charged the last minutes of a subscription, at most so many (docs/internals/decisions/05-metering.md). */
const UNPAID_MS = UNPAID_MINUTES * MINUTE_MS
/** An isolate that dies may not have reported what it served for so long, to the operator's cost (docs/internals/decisions/05-metering.md). */
const UNREPORTED_MS = REPORT_EVERY_MS + 5_000

interface Life {
  readonly type: string
  readonly price: MicroCredits
  readonly askedMs: number
  ackedMs: number | null
  /** Since when all that was asked for is there. */
  wholeMs: number | null
  lastMs: number
  isKilled: boolean
}

export interface Bounds {
  readonly type: string
  readonly least: MicroCredits
  readonly most: MicroCredits
}

export class Served {
  readonly #bounds = new Map<string, { least: number; most: number }>()
  readonly #lives = new Map<string, Life>()
  #recent: { readonly atMs: number; readonly type: string; readonly price: MicroCredits }[] = []

  /** An info call was sent: it may be charged, also where its answer never comes. */
  called(type: string, price: MicroCredits): void {
    this.#add(type, 0, price)
  }

  /** Its answer came: `isPaid` with 200, free otherwise. */
  answered(type: string, price: MicroCredits, isPaid: boolean, nowMs: number): void {
    if (!isPaid) return this.#add(type, 0, -price)
    this.#add(type, price, 0)
    this.#recent = this.#recent.filter(({ atMs }) => nowMs - atMs < UNREPORTED_MS)
    this.#recent.push({ atMs: nowMs, type, price })
  }

  killed(nowMs: number): void {
    for (const { atMs, type, price } of this.#recent) if (nowMs - atMs < UNREPORTED_MS) this.#add(type, -price, 0)
    this.#recent = []
    for (const life of this.#lives.values()) life.isKilled = true
  }

  /** A subscribe was sent; `key` names it on this socket. */
  asked(key: string, type: string, price: MicroCredits, askedMs: number): void {
    if (this.#lives.has(key)) return
    this.#lives.set(key, { type, price, askedMs, ackedMs: null, wholeMs: null, lastMs: 0, isKilled: false })
  }

  /** Acknowledged; `isWhole`: nothing has to come first. */
  acked(key: string, isWhole: boolean, nowMs: number): void {
    const life = this.#lives.get(key)
    if (life === undefined || life.ackedMs !== null) return
    life.ackedMs = life.lastMs = nowMs
    if (isWhole) life.wholeMs = nowMs
  }

  whole(key: string, nowMs: number): void {
    const life = this.#lives.get(key)
    if (life !== undefined) life.wholeMs ??= nowMs
  }

  heard(nowMs: number): void {
    for (const life of this.#lives.values()) life.lastMs = nowMs
  }

  /** The socket ended, and all that was subscribed on it. */
  ended(nowMs: number): void {
    for (const { type, price, askedMs, wholeMs, lastMs, isKilled } of this.#lives.values()) {
      // Not from the acknowledgement on: one that never reads does not see it.
      const begunMs = nowMs - askedMs + SLACK_MS
      const unknownMs = SLACK_MS + (isKilled ? UNPAID_MS : 0)
      const servedMs = wholeMs === null ? 0 : Math.max(0, lastMs - wholeMs - unknownMs)
      this.#add(type, (price * servedMs) / MINUTE_MS, price * (1 + Math.floor(begunMs / MINUTE_MS)))
    }
    this.#lives.clear()
  }

  bounds(): Bounds[] {
    return [...this.#bounds].map(([type, { least, most }]) => ({ type, least: Math.max(0, Math.floor(least)), most }))
  }

  #add(type: string, least: number, most: number): void {
    const before = this.#bounds.get(type) ?? { least: 0, most: 0 }
    this.#bounds.set(type, { least: before.least + least, most: before.most + most })
  }
}
