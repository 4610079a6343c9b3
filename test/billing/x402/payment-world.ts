// A model of one wallet's payments: a chain, a facilitator and a node that misbehave as told, books, and a Payer that can be
// killed between any two calls. Every outside call waits until the test completes it.

import type { SettledPayment } from '../../../src/billing/x402/booking.ts'
import { nonceOf, type Outcome, type Payment, type PaymentOrder } from '../../../src/billing/x402/payment.ts'
import { type ChainState, type PaymentStore, Payments, type Verdict } from '../../../src/billing/x402/payments.ts'

const START_MS = 1_800_000_000_000
const WALLET = `0x${'a'.repeat(40)}`
const ASK_MS = 7_000

/** Nonce number `n`, for the request `digest`. */
export function orderOf(n: number, digest: string, more: Partial<PaymentOrder> = {}, nowMs = START_MS): PaymentOrder {
  const nonce = `0x${String(n).padStart(64, '0')}`
  return {
    account: `x402-${'a'.repeat(40)}`,
    micro: 5_000_000,
    minor: 5_000,
    currency: 'usdc',
    call: { product: 'info', type: 'l2Book' },
    caller: '192.0.2.1',
    digest,
    requirement: {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '5000',
      asset: `0x${'b'.repeat(40)}`,
      payTo: `0x${'c'.repeat(40)}`,
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    },
    authorization: {
      from: WALLET,
      to: `0x${'c'.repeat(40)}`,
      value: '5000',
      validAfter: '0',
      validBefore: String(nowMs / 1000 + 300),
      nonce,
    },
    signature: `0x${'d'.repeat(130)}`,
    ...more,
  }
}

/** How an outside call ends. `late`: it fails, and has its effect afterwards. */
export type Behavior = 'honest' | 'fail' | 'fail-after' | 'late' | 'lie' | 'double' | 'refuse'
export const BEHAVIORS: readonly Behavior[] = ['honest', 'fail', 'fail-after', 'late', 'lie', 'double', 'refuse']

type CallKind = 'verify' | 'settle' | 'look' | 'book' | 'unclear' | 'sleep'
interface OpenCall {
  readonly kind: CallKind
  readonly nonce: string
  readonly untilMs: number
  readonly end: (behavior: Behavior) => void
}

const LIMITS_MS: Readonly<Record<CallKind, number>> = {
  verify: 10_000,
  settle: 25_000,
  look: 8_000,
  book: 10_000,
  unclear: 10_000,
  sleep: 1_000,
}

export const settledIn = async () => {
  for (let i = 0; i < 60; i++) await Promise.resolve()
}

export class PaymentWorld {
  nowMs = START_MS
  readonly hasNode: boolean
  readonly rows = new Map<string, Payment>()
  /** Transactions that took a nonce. `pays`: it was a transfer, and not a cancellation. */
  readonly chain = new Map<string, { readonly pays: boolean; readonly transaction: string }>()
  readonly books = new Map<string, SettledPayment>()
  readonly unclear = new Set<string>()
  /** Nonces that the facilitator was asked to settle. */
  readonly requested = new Set<string>()
  readonly faults: string[] = []
  readonly errors: unknown[] = []
  calls: OpenCall[] = []
  late: string[] = []
  #generation = 0
  payments: Payments

  constructor(hasNode: boolean) {
    this.hasNode = hasNode
    this.payments = this.#start()
  }

  /** The object is lost with all its calls in progress; a new one reads the rows. */
  kill(): void {
    this.#generation++
    this.calls = []
    this.payments = this.#start()
  }

  /** The chain takes an authorization once, and only while it is valid. */
  take(nonce: string, pays = true): void {
    const order = this.rows.get(nonce)?.order
    // Without a node, a transaction that is mined after the last question stays unknown.
    const marginMs = this.hasNode ? 0 : 20_000
    if (order === undefined || this.chain.has(nonce) || this.nowMs >= expiryOf(order) - marginMs) return
    this.chain.set(nonce, { pays, transaction: `0x${nonce.slice(-64)}` })
  }

  advance(ms: number): void {
    this.nowMs += ms
    for (const call of this.calls.filter(({ untilMs }) => untilMs <= this.nowMs))
      this.complete(call, call.kind === 'sleep' ? 'honest' : 'late')
  }

  complete(call: OpenCall, behavior: Behavior): void {
    this.calls = this.calls.filter((one) => one !== call)
    call.end(behavior)
  }

  get dueMs(): number {
    return Math.min(...[...this.rows.values()].map(({ dueMs }) => dueMs))
  }

  #start(): Payments {
    const generation = this.#generation
    const open = <T>(kind: CallKind, nonce: string, effect: () => void, answer: (behavior: Behavior) => T) =>
      new Promise<T>((resolve, reject) => {
        if (generation !== this.#generation) return
        if (kind === 'settle') this.requested.add(nonce)
        if (kind === 'settle' && this.calls.some((one) => one.kind === 'settle' && one.nonce === nonce))
          this.faults.push(`two settlements of ${nonce} at a time`)
        const end = (how: Behavior) => {
          // Nodes and books tell the truth or nothing.
          const behavior = (how === 'lie' || how === 'refuse') && kind !== 'settle' && kind !== 'verify' ? 'fail' : how
          if (behavior === 'honest' || behavior === 'fail-after' || behavior === 'double') effect()
          if (behavior === 'double') effect()
          if (behavior === 'late' && kind === 'settle') this.late.push(nonce)
          if (behavior === 'fail' || behavior === 'fail-after' || behavior === 'late') reject(new Error(behavior))
          else resolve(answer(behavior))
        }
        this.calls.push({ kind, nonce, untilMs: this.nowMs + LIMITS_MS[kind], end })
      })
    const none = () => {}
    const isAlive = () => generation === this.#generation
    return new Payments({
      store: storeOf(this.rows, isAlive),
      verify: (order) => open('verify', nonceIn(order), none, (behavior) => this.#verdict(order, behavior)),
      settle: (order) =>
        open(
          'settle',
          nonceIn(order),
          () => this.take(nonceIn(order)),
          (how) => this.#outcome(order, how),
        ),
      look: this.hasNode ? (order) => open('look', nonceIn(order), none, () => this.#seen(order)) : null,
      book: (payment) =>
        open(
          'book',
          payment.reference,
          () => this.#book(payment),
          () => null as never,
        ),
      bookUnclear: (payment) =>
        open('unclear', payment.reference, () => void this.unclear.add(payment.reference), none),
      sleep: () => open('sleep', '', none, none),
      nowMs: () => this.nowMs,
      random: () => 0.5,
      report: (error) => this.errors.push(error),
    })
  }

  #book(payment: SettledPayment): void {
    const known = this.books.get(payment.reference)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(payment))
      this.faults.push(`${payment.reference} is booked in two ways`)
    this.books.set(payment.reference, payment)
  }

  #verdict(order: PaymentOrder, behavior: Behavior): Verdict {
    if (this.nowMs >= expiryOf(order) - ASK_MS + 1_000) return { kind: 'invalid', why: 'expired' }
    if (this.chain.has(nonceIn(order))) return { kind: 'used' }
    return behavior === 'refuse' ? { kind: 'invalid', why: 'balance' } : { kind: 'valid' }
  }

  #outcome(order: PaymentOrder, behavior: Behavior): Outcome {
    const nonce = nonceIn(order)
    const taken = this.chain.get(nonce)
    if (behavior === 'refuse') return taken ? { kind: 'used' } : { kind: 'failed', why: 'balance' }
    if (behavior !== 'lie') return taken?.pays ? { kind: 'settled', transaction: taken.transaction } : { kind: 'used' }
    // With a node, a facilitator may claim a success. Otherwise it is trusted, but may hide one.
    if (this.hasNode && taken === undefined) return { kind: 'settled', transaction: `0x${'e'.repeat(64)}` }
    this.take(nonce)
    return { kind: 'failed', why: 'a lie' }
  }

  #seen(order: PaymentOrder): ChainState {
    const taken = this.chain.get(nonceIn(order))
    if (taken === undefined) return { kind: 'unused' }
    return taken.pays ? { kind: 'settled', transaction: taken.transaction } : { kind: 'void' }
  }
}

const nonceIn = ({ authorization }: PaymentOrder) => authorization.nonce
const expiryOf = ({ authorization }: PaymentOrder) => Number(authorization.validBefore) * 1000

/** A store whose writes by a dead object are lost. Rows are copied, as SQLite copies them. */
function storeOf(rows: Map<string, Payment>, isAlive: () => boolean): PaymentStore {
  const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
  const values = () => [...rows.values()]
  return {
    get: (nonce) => copy(rows.get(nonce) ?? null),
    put: (payment) => void (isAlive() && rows.set(nonceOf(payment), copy(payment))),
    delete: (nonce) => void (isAlive() && rows.delete(nonce)),
    countOpen: () => values().filter(({ state }) => state !== 'settled' && state !== 'unclear').length,
    due: (nowMs, limit) =>
      values()
        .filter(({ dueMs }) => dueMs <= nowMs)
        .slice(0, limit)
        .map(copy),
  }
}
