// The payments of one wallet: performs the steps of payment.ts with the facilitator, the chain and the books. Invariants:
// a step is stored before it is performed; nothing is assumed about a call without an outcome; a payment has one call in
// progress at most, and every other payment has its next step in the store, so a crash at any point loses nothing.

import { type Backoff, backoffMs } from '../../core/backoff.ts'
import { MINUTE_MS } from '../../core/time.ts'
import type { Book, BookUnclear } from './booking.ts'
import type { BeginResponse, SettleResponse } from './payer-api.ts'
import {
  answered,
  asking,
  begin,
  booked,
  concluded,
  ended,
  ending,
  isFinal,
  isLost,
  isOpen,
  nonceOf,
  type Outcome,
  type Payment,
  type PaymentOrder,
  type RefusalKind,
  released,
  reserved,
  retried,
  stepOf,
  toBook,
  unclear,
} from './payment.ts'

/** Changes are stored before any later message leaves, and the alarm is set with them. */
export interface PaymentStore {
  get(nonce: string): Payment | null
  put(payment: Payment): void
  delete(nonce: string): void
  /** Payments that are not settled yet. */
  countOpen(): number
  due(nowMs: number, limit: number): readonly Payment[]
}

export type Verdict =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly why: string }
  /** The nonce was used. */
  | { readonly kind: 'used' }

/** State of an authorization on the chain. */
export type ChainState = Extract<Outcome, { readonly kind: 'settled' | 'void' }> | { readonly kind: 'unused' }

/** Calls end within a known time, and reject if there is no answer. */
export interface PaymentPorts {
  readonly store: PaymentStore
  verify(order: PaymentOrder): Promise<Verdict>
  settle(order: PaymentOrder): Promise<Outcome>
  /** Null: there is no node to ask. */
  readonly look: ((order: PaymentOrder) => Promise<ChainState>) | null
  readonly book: Book
  readonly bookUnclear: BookUnclear
  readonly sleep: (ms: number) => Promise<void>
  readonly nowMs: () => number
  readonly random: () => number
  readonly report: (error: unknown) => void
}

/** Payments of a wallet without an outcome, and payments being verified. */
export const OPEN_MAX = 200
const VERIFYING_MAX = 16
/** Payments that a turn performs, in addition to those with a call in progress. */
const TURN_MAX = 16
const RETRY: Backoff = { firstMs: 2_000, capMs: MINUTE_MS, jitter: 0.2 }
/** Nodes may show a transaction later than the facilitator does. */
const LOOKS = 3
const LOOK_EVERY_MS = 1_000

const refusal = (kind: RefusalKind, why?: string) =>
  ({ ok: false, refusal: { kind, ...(why !== undefined && { why }) } }) as const

export class Payments {
  readonly #ports: PaymentPorts
  /** Nonces of payments with a call in progress. */
  readonly #working = new Set<string>()
  #verifying = 0

  constructor(ports: PaymentPorts) {
    this.#ports = ports
  }

  async begin(order: PaymentOrder): Promise<BeginResponse> {
    const { store, nowMs } = this.#ports
    const decide = () => begin(store.get(order.authorization.nonce), order, nowMs())
    let decision = decide()
    if (decision.step === 'verify') {
      const refused = await this.#verify(order)
      if (refused !== null) return refused
      // Another request with the same payment may have come first.
      decision = decide()
      if (decision.step === 'verify')
        decision = { step: 'answer', payment: reserved(store.get(order.authorization.nonce), order, nowMs()) }
    }
    if (decision.step === 'refuse') return { ok: false, refusal: decision.refusal }
    store.put(decision.payment)
    return { ok: true, holder: decision.payment.holder }
  }

  async #verify(order: PaymentOrder): Promise<ReturnType<typeof refusal> | null> {
    const { store, verify, report } = this.#ports
    if (this.#verifying >= VERIFYING_MAX || store.countOpen() + this.#verifying >= OPEN_MAX) return refusal('too_many')
    this.#verifying++
    try {
      const verdict = await verify(order)
      if (verdict.kind === 'valid') return null
      return verdict.kind === 'used' ? refusal('used') : refusal('invalid', verdict.why)
    } catch (error) {
      report(error)
      return refusal('unavailable')
    } finally {
      this.#verifying--
    }
  }

  release(nonce: string, holder: number): void {
    const { store, nowMs } = this.#ports
    const known = store.get(nonce)
    if (known !== null) store.put(released(known, holder, nowMs()))
  }

  async settle(nonce: string, holder: number): Promise<SettleResponse> {
    const { store, nowMs } = this.#ports
    const end = ending(store.get(nonce), holder, nowMs())
    if (end.step === 'refuse') return { ok: false, refusal: end.refusal }
    let payment = end.payment
    if (end.step === 'ask') {
      if (this.#working.has(nonce)) return refusal('pending')
      payment = await this.#alone(nonce, () => this.#ask(end.payment))
      if (payment.state === 'settled') payment = answered(payment, nowMs())
    }
    store.put(payment)
    if (payment.state !== 'settled')
      return payment.state === 'failed'
        ? refusal('failed', payment.why ?? '')
        : refusal(payment.state === 'unclear' ? 'unclear' : 'pending')
    // A buyer of credits waits for them; the charge for an answer can follow.
    if (payment.order.call === null && !payment.isDone) await this.#step(payment)
    const isBooked = store.get(nonce)?.isDone ?? false
    return { ok: true, transaction: payment.transaction ?? '', isBooked, isFirst: end.step === 'ask' }
  }

  /** Performs the steps that are due. Never rejects. */
  async turn(): Promise<void> {
    const { store, nowMs } = this.#ports
    const due = store.due(nowMs(), TURN_MAX + this.#working.size)
    await Promise.all(due.map((payment) => this.#step(payment)))
  }

  async #alone<T>(nonce: string, work: () => Promise<T>): Promise<T> {
    this.#working.add(nonce)
    try {
      return await work()
    } finally {
      this.#working.delete(nonce)
    }
  }

  async #step(payment: Payment): Promise<void> {
    const { store, nowMs, report } = this.#ports
    const nonce = nonceOf(payment)
    if (this.#working.has(nonce)) return
    try {
      await this.#alone(nonce, () => this.#perform(payment))
    } catch (error) {
      report(error)
      const known = store.get(nonce)
      if (known !== null) store.put(retried({ ...known, attempts: known.attempts + 1 }, nowMs(), this.#retryMs(known)))
    }
  }

  async #perform(payment: Payment): Promise<void> {
    const { store, nowMs, bookUnclear } = this.#ports
    switch (stepOf(payment, nowMs())) {
      case 'none':
        return
      case 'delete':
        return store.delete(nonceOf(payment))
      case 'resolve':
        return store.put(await this.#resolve(payment))
      case 'check':
        return store.put(await this.#check(payment))
      case 'book':
        return this.#book(payment)
      case 'report': {
        await bookUnclear({ ...entryOf(payment), note: payment.why ?? '' })
        return this.#change(payment, booked)
      }
    }
  }

  /** Asks the facilitator to settle. Returns the payment as it is afterwards. */
  async #ask(attempt: Payment): Promise<Payment> {
    const { store, settle, report, nowMs } = this.#ports
    store.put(attempt)
    const outcome = await settle(attempt.order)
      .then((one) => this.#confirmed(attempt.order, one))
      .catch((error): Outcome => {
        report(error)
        return { kind: 'unknown' }
      })
    return concluded(attempt, outcome, nowMs(), this.#retryMs(attempt))
  }

  /** With a node, only the chain says whether a payment was made. */
  async #confirmed(order: PaymentOrder, outcome: Outcome): Promise<Outcome> {
    const { look, sleep } = this.#ports
    if (look === null || outcome.kind === 'unknown' || outcome.kind === 'failed') return outcome
    for (let looks = 1; ; looks++) {
      const state = await look(order)
      if (state.kind !== 'unused') return state
      if (looks === LOOKS) return { kind: 'unknown' }
      await sleep(LOOK_EVERY_MS)
    }
  }

  /** The next attempt of a payment whose outcome is not known. */
  async #resolve(payment: Payment): Promise<Payment> {
    const { look, nowMs } = this.#ports
    if (look !== null) {
      const seen = await this.#seen(payment, look)
      if (seen !== null) return seen
      if (isFinal(payment, nowMs())) return ended(payment, 'the chain did not take it in time')
    } else if (isFinal(payment, nowMs()))
      return unclear(payment, 'The facilitator did not say in time whether the payment was made.', nowMs())
    if (!isOpen(payment, nowMs())) return retried(payment, nowMs(), this.#retryMs(payment))
    const verdict = await this.#ports.verify(payment.order)
    if (verdict.kind === 'used' && look === null) return concluded(payment, verdict, nowMs(), 0)
    if (verdict.kind !== 'valid')
      return retried({ ...payment, attempts: payment.attempts + 1 }, nowMs(), this.#retryMs(payment))
    return this.#ask(asking(payment, nowMs()))
  }

  /** Whether a payment was made that the facilitator refused, or that it was not asked for. */
  async #check(payment: Payment): Promise<Payment> {
    const { look, nowMs, verify } = this.#ports
    const why = payment.why ?? ''
    if (look === null) {
      if (!isOpen(payment, nowMs()))
        return payment.state === 'failed'
          ? unclear(payment, `The facilitator refused it (${why}), and could not be asked again.`, nowMs())
          : ended(payment, why)
      const verdict = await verify(payment.order)
      return verdict.kind === 'used' ? concluded(payment, verdict, nowMs(), 0) : ended(payment, why)
    }
    const seen = await this.#seen(payment, look)
    if (seen !== null) return seen
    if (isFinal(payment, nowMs())) return ended(payment, why)
    return retried({ ...payment, attempts: payment.attempts + 1 }, nowMs(), this.#retryMs(payment))
  }

  /** The payment as the chain shows it; null if its nonce is unused. */
  async #seen(payment: Payment, look: NonNullable<PaymentPorts['look']>): Promise<Payment | null> {
    const { nowMs, report } = this.#ports
    try {
      const state = await look(payment.order)
      return state.kind === 'unused' ? null : concluded(payment, state, nowMs(), 0)
    } catch (error) {
      if (!isLost(payment, nowMs())) throw error
      report(error)
      return unclear(payment, 'The node of the chain could not be read.', nowMs())
    }
  }

  async #book(payment: Payment): Promise<void> {
    const { store, book } = this.#ports
    const decided = toBook(payment)
    store.put(decided)
    const { transaction, settledMs } = decided
    await book({ ...entryOf(decided), transaction: transaction ?? '', settledMs })
    this.#change(decided, booked)
  }

  /** Changes a payment that requests may have changed in the meantime. */
  #change(payment: Payment, change: (known: Payment) => Payment): void {
    const { store } = this.#ports
    store.put(change(store.get(nonceOf(payment)) ?? payment))
  }

  #retryMs({ attempts }: Payment): number {
    return backoffMs(RETRY, Math.max(0, attempts - 1), this.#ports.random())
  }
}

function entryOf({ order, booking }: Payment) {
  const { account, micro, minor, currency, call, requirement, authorization } = order
  const reference = `${requirement.network}:${authorization.from}:${authorization.nonce}`
  return { reference, account, micro, minor, currency, call: booking === 'call' ? call : null }
}
