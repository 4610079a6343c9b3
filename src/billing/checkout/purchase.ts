// A purchase of credits and its transitions on payment updates. Invariants: a payment with a different amount, currency
// or order grants nothing; updates may be repeated, late or reordered and lead to the same result; a paid purchase
// stays paid; cases that need an operator are recorded and not acted on.

import type { MicroCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { moneyText, parseMoney } from './money.ts'
import type { Quote } from './prices.ts'

export const PURCHASE_STATES = ['open', 'paid', 'failed', 'void'] as const
/** Providers of the checkout. */
export const CHECKOUT_PROVIDERS = ['manual', 'stripe'] as const
export const PROVIDERS = [...CHECKOUT_PROVIDERS, 'x402'] as const

export interface Purchase extends Quote {
  readonly seq: number
  /** Also the id of its grant. */
  readonly number: string
  readonly account: AccountId
  readonly micro: MicroCredits
  readonly provider: (typeof PROVIDERS)[number]
  readonly state: (typeof PURCHASE_STATES)[number]
  readonly reference: string | null
  readonly url: string | null
  /** Unix ms. */
  readonly created: number
  readonly paid: number | null
  readonly granted: number | null
  /** Minor units refunded by the provider. */
  readonly refunded: number
  readonly note: string | null
  /** Transaction of an x402 payment; null: another provider, or unknown. */
  readonly receipt: string | null
  /** Row of the terms of its invoice; null: no invoice. */
  readonly terms: number | null
  /** Row of the billing details of its invoice; null: none. */
  readonly buyer: number | null
  /** Time of the last refund. */
  readonly refund_time: number | null
  /** Customer and saved card that an automatic top-up charges, with a slash between; null: the owner pays on a page. */
  readonly mandate: string | null
}

/** How the payment is found where it was made. `network`: of an x402 payment. */
export function paymentOf({ provider, number, reference, receipt }: Purchase) {
  const parts = provider === 'x402' ? (reference ?? '').split(':') : []
  const references = { manual: number, stripe: reference, x402: receipt }
  return { method: provider, reference: references[provider], network: parts.slice(0, 2).join(':') || null }
}

/** Provider update about a purchase. `account` and `reference` are set if the provider names them. */
export interface PaymentUpdate {
  readonly number: string
  readonly account: AccountId | null
  readonly reference: string | null
  readonly what:
    | { readonly kind: 'paid' | 'refunded'; readonly minor: number; readonly currency: string }
    | { readonly kind: 'pending' | 'failed' | 'expired' }
}

export interface Settlement {
  readonly change: Partial<Pick<Purchase, 'state' | 'paid' | 'refunded' | 'refund_time' | 'note' | 'reference'>>
  /** The credits must be granted. Idempotent, because the purchase number is the grant id. */
  readonly isDue: boolean
  readonly outcome: string
}

const noChange = (outcome: string): Settlement => ({ change: {}, isDue: false, outcome })
const noted = (note: string, change: Settlement['change'] = {}): Settlement => ({
  change: { ...change, note },
  isDue: false,
  outcome: `refused: ${note}`,
})

export function settle(order: Purchase, { account, reference, what }: PaymentUpdate, nowMs: number): Settlement {
  if (account !== null && account !== order.account) return noted('an event named another account')
  if (reference !== null && order.reference !== null && reference !== order.reference)
    return noted('an event named another payment')
  switch (what.kind) {
    case 'pending':
      return noChange('waiting for the payment')
    case 'failed':
      return order.state === 'open' ? endedWith('failed', 'the payment failed') : noChange('too late')
    case 'expired':
      return order.state === 'open' ? endedWith('void', 'not paid in time') : noChange('too late')
    case 'refunded':
      return applyRefund(order, what, nowMs)
    case 'paid':
      return applyPayment(order, what, reference, nowMs)
  }
}

const endedWith = (state: 'failed' | 'void', note: string): Settlement => ({
  change: { state, note },
  isDue: false,
  outcome: note,
})

type Sum = { readonly minor: number; readonly currency: string }
const sumText = ({ minor, currency }: Sum) => `${moneyText(minor, currency)} ${currency}`

function applyPayment(order: Purchase, sum: Sum, reference: string | null, nowMs: number): Settlement {
  if (sum.minor !== order.minor || sum.currency !== order.currency)
    return noted(`paid ${sumText(sum)} instead of ${sumText(order)}: nothing was granted`)
  if (order.granted !== null) return noChange('already paid')
  if (order.state === 'void')
    return noted('paid although it was void: refund it, or mark it as paid; nothing was granted')
  if (order.refunded >= order.minor)
    return noted('refunded before its credits were granted: nothing was granted', { state: 'paid', paid: nowMs })
  if (order.state === 'paid') return { change: {}, isDue: true, outcome: 'granted' }
  const change = { state: 'paid', paid: nowMs, note: null, reference: reference ?? order.reference } as const
  return { change, isDue: true, outcome: 'granted' }
}

/** Providers report the total refunded so far, so the largest reported value counts. */
function applyRefund(order: Purchase, sum: Sum, nowMs: number): Settlement {
  if (sum.currency !== order.currency) return noted(`${sumText(sum)} refunded, which is another currency`)
  if (sum.minor <= order.refunded) return noChange('already recorded')
  const note = `${sumText(sum)} refunded; its credits are unchanged`
  return { change: { refunded: sum.minor, refund_time: nowMs, note }, isDue: false, outcome: note }
}

/** The change for money that an operator returned; `amount` is the sum of all refunds of the order. */
export function recordedRefund(
  order: Purchase,
  amount: string,
  nowMs: number,
): Result<Settlement['change'], Failure | { readonly kind: 'conflict'; readonly message: string }> {
  const conflict = (message: string) => err({ kind: 'conflict', message: `number: ${message}` } as const)
  if (order.provider === 'stripe')
    return conflict('this order was paid through Stripe. Refund it there, and Stripe reports the refund.')
  if (order.state !== 'paid') return conflict('only a paid order can be refunded. Void this order instead.')
  const minor = parseMoney(amount, order.currency)
  const least = moneyText(Math.max(order.refunded, 1), order.currency)
  if (minor === null || minor < Math.max(order.refunded, 1) || minor > order.minor) {
    const message = `must be all that was refunded so far, from ${least} to ${sumText(order)}`
    return err({ kind: 'bad_field', issues: [{ path: 'amount', message }] })
  }
  return ok(applyRefund(order, { minor, currency: order.currency }, nowMs).change)
}
