// The minutes of subscriptions: what is due, what is paid, what is left of a minute after an unsubscribe.
// Law: minute n of a subscription has one charge id, and an id is charged at most once whatever is repeated.
//
// The first minute is paid before the ack. A minute's rest is kept until it ends, for one resubscribe of the same key
// and body; it must pay a minute of its own before its rest is kept again.

import type { Charge, MicroCredits } from '../credit/meter-api.ts'

export const MINUTE_MS = 60_000
/** Minutes of an account that end within this time are settled together. */
export const BATCH_MS = 5000
/** How long a subscription runs on while its meter cannot be asked. */
export const UNPAID_GRACE_MS = 60_000
const MAX_KEPT = 10_000

/** The paid time of one subscription; it survives the subscription for the rest of its minute. */
export interface Minutes {
  /** Unique in its relay for ever. */
  readonly id: string
  readonly account: string
  readonly keyHash: string
  /** Wire type that usage is recorded under. */
  readonly type: string
  readonly price: MicroCredits
  readonly sinceMs: number
  /** Minutes paid, counted from `sinceMs`. */
  paid: number
  /** True from a resubscribe until the next payment. */
  resumed: boolean
}

/** End of what is paid. */
export function paidUntilMs(minutes: Minutes): number {
  return minutes.sinceMs + minutes.paid * MINUTE_MS
}

/** The charge of the first minute that is not paid. */
export function nextCharge(relay: string, minutes: Minutes): Charge {
  const { id, keyHash, price, type, paid } = minutes
  return { id: `${relay}/${id}/${paid}`, keyHash, amount: price, product: 'stream', type }
}

/** Minutes as they stand when a relay wakes and remembers only when they began: the current one is charged again (its id makes that harmless). */
export function wokenMinutes(minutes: Omit<Minutes, 'paid' | 'resumed'>, nowMs: number): Minutes {
  const current = Math.max(0, Math.floor((nowMs - minutes.sinceMs) / MINUTE_MS))
  return { ...minutes, paid: current, resumed: false }
}

/** Running and kept minutes of one relay. */
export class MinuteBook {
  readonly #running = new Map<string, Minutes>()
  /** By key and body. */
  readonly #kept = new Map<string, Minutes>()

  get size(): number {
    return this.#running.size
  }

  start(minutes: Minutes): void {
    this.#running.set(minutes.id, minutes)
  }

  /** Ends a subscription; its rest is kept under `name` (key and body) where it may be. */
  stop(minutes: Minutes, name: string, nowMs: number): void {
    this.#running.delete(minutes.id)
    if (minutes.resumed || paidUntilMs(minutes) <= nowMs) return
    this.#sweep(nowMs)
    if (this.#kept.size < MAX_KEPT) this.#kept.set(name, minutes)
  }

  /** Takes the rest kept under `name`, if there is one. */
  resume(name: string, nowMs: number): Minutes | null {
    const minutes = this.#kept.get(name)
    this.#kept.delete(name)
    if (!minutes || paidUntilMs(minutes) <= nowMs) return null
    minutes.resumed = true
    return minutes
  }

  /** Per account, what must be paid now: nothing of an account until one of its minutes has ended. */
  due(nowMs: number): Map<string, Minutes[]> {
    const byAccount = new Map<string, { ended: boolean; minutes: Minutes[] }>()
    for (const minutes of this.#running.values()) {
      const end = paidUntilMs(minutes)
      if (end > nowMs + BATCH_MS) continue
      const batch = byAccount.get(minutes.account) ?? { ended: false, minutes: [] }
      batch.ended ||= end <= nowMs
      batch.minutes.push(minutes)
      byAccount.set(minutes.account, batch)
    }
    const due = new Map<string, Minutes[]>()
    for (const [account, { ended, minutes }] of byAccount) if (ended) due.set(account, minutes)
    return due
  }

  /** Price of the next minute of everything that an account runs here. */
  nextMinuteOf(account: string): MicroCredits {
    let sum = 0
    for (const minutes of this.#running.values()) if (minutes.account === account) sum += minutes.price
    return sum
  }

  #sweep(nowMs: number): void {
    for (const [name, minutes] of this.#kept) if (paidUntilMs(minutes) <= nowMs) this.#kept.delete(name)
  }
}

/** A minute was paid. */
export function pay(minutes: Minutes): void {
  minutes.paid++
  minutes.resumed = false
}
