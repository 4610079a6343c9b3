// The invoice of an order, made of the order and of the terms and billing details of its time. Invariants: net plus tax is
// gross, which is the amount of the order; dates are UTC days; nothing that changes after the order is on it, except its
// payment, and how an open order is paid.

import { formatCredits } from '../../core/amount.ts'
import { inGroups } from '../../core/digit-groups.ts'
import { DAY_MS } from '../../core/time.ts'
import type { BillingDetails } from './billing-details.ts'
import type { InvoiceTerms } from './invoice-terms.ts'
import { moneyText } from './money.ts'
import { type Purchase, paymentOf } from './purchase.ts'
import { taxWithin } from './tax.ts'

export interface InvoicedPurchase {
  readonly order: Purchase
  readonly terms: InvoiceTerms
  /** Null: the account had no billing details. */
  readonly buyer: BillingDetails | null
}

/** `2026-11-30`, in UTC. */
const dayOf = (unixMs: number) => new Date(unixMs).toISOString().slice(0, 10)

export type Invoice = ReturnType<typeof invoiceOf>

/**
 * Amounts are decimal strings in the currency of the order. Amounts of a correction are negative. `instructions`: how an
 * order is paid to the operator now.
 */
export function invoiceOf({ order, terms, buyer }: InvoicedPurchase, instructions: string) {
  const { number, account, state, provider, minor, currency, created, refunded, refund_time: refundMs } = order
  const { seller, tax, dueDays, note } = terms
  const text = (amount: number) => moneyText(amount, currency)
  const sumsOf = (gross: number, sign: '' | '-') => {
    const taxMinor = tax === null ? 0 : taxWithin(gross, tax.rate)
    const signed = (amount: number) => (amount === 0 ? '' : sign) + text(amount)
    return { net: signed(gross - taxMinor), tax: signed(taxMinor), gross: signed(gross) }
  }
  const sums = sumsOf(minor, '')
  const isPaid = state === 'paid'
  const isToPay = !isPaid && state !== 'void'
  // A payment that was returned without being taken corrects nothing.
  const credited = isPaid ? Math.min(refunded, minor) : 0
  return {
    number,
    account,
    state,
    issued: dayOf(created),
    due: dayOf(created + dueDays * DAY_MS),
    seller: {
      name: seller.name,
      address: seller.address,
      tax_id: seller.taxId ?? null,
      contact: seller.contact ?? null,
    },
    buyer,
    lines: [{ description: creditsLine(order), quantity: 1, unit_price: sums.net, net: sums.net }],
    currency,
    net: sums.net,
    tax: tax === null ? null : { name: tax.name, rate: tax.rate, amount: sums.tax },
    gross: sums.gross,
    paid: text(isPaid ? minor : 0),
    refunded: text(credited),
    amount_due: text(isToPay ? minor : 0),
    payment: { ...paymentOf(order), paid: order.paid },
    instructions: isToPay && provider === 'manual' ? instructions : '',
    correction:
      credited === 0 ? null : { issued: refundMs === null ? null : dayOf(refundMs), ...sumsOf(credited, '-') },
    note,
  }
}

/** `100,000.5 API credits` */
function creditsLine({ micro }: Purchase): string {
  const [whole = '', fraction] = formatCredits(micro).split('.')
  return `${inGroups(Number(whole))}${fraction === undefined ? '' : `.${fraction}`} API credits`
}
