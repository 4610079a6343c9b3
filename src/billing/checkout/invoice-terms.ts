// The variable INVOICE: what every invoice says about the seller, the tax and the terms of payment.

import * as z from 'zod'
import { inGroups } from '../../core/digit-groups.ts'
import { JsonText } from '../../core/variables.ts'
import { MINOR_MAX } from './money.ts'
import { Address, PartyName, PrintableLine, TaxId } from './party.ts'
import type { CheckoutPrices } from './prices.ts'
import { withTax } from './tax.ts'

const RATE_MESSAGE = 'must be a string of percent such as "19" or "7.625", from 0 to 100, with at most 3 decimals'

const InvoiceTerms = z.strictObject({
  seller: z.strictObject({
    name: PartyName,
    /** With the country. */
    address: Address,
    taxId: TaxId.optional(),
    /** For example an e-mail address. */
    contact: PrintableLine(200).optional(),
  }),
  /** Days from the order to the due date. */
  dueDays: z.int().min(0).max(365).default(14),
  /** Null: invoices show no tax. */
  tax: z
    .strictObject({
      name: PrintableLine(20),
      /** Percent. */
      rate: z.string(RATE_MESSAGE).regex(/^(?:100(?:\.0{1,3})?|\d{1,2}(?:\.\d{1,3})?)$/, RATE_MESSAGE),
      /** Whether the prices of the checkout include the tax. Payments by x402 always include it. */
      included: z.boolean().default(true),
    })
    .nullable()
    .default(null),
  /** Printed below the amounts, for example the reason for a rate of 0. */
  note: z.string().trim().max(1_000).default(''),
})
export type InvoiceTerms = z.infer<typeof InvoiceTerms>

/** JSON; empty: orders have no invoices. */
export const INVOICE = z
  .string()
  .transform((text) => text || 'null')
  .pipe(JsonText(InvoiceTerms.nullable()))

/** Amount of an order with this price in the checkout. */
export function grossOf(price: number, terms: InvoiceTerms | null): number {
  const tax = terms?.tax ?? null
  return tax === null || tax.included ? price : withTax(price, tax.rate)
}

/** A sentence if an order with tax could exceed the maximum, else null. */
export function taxedPriceError({ packages, lots }: CheckoutPrices, terms: InvoiceTerms | null): string | null {
  const highest = Math.max(0, ...packages.map(({ minor }) => minor), (lots?.minor ?? 0) * (lots?.most ?? 0))
  if (grossOf(highest, terms) <= MINOR_MAX) return null
  return `CHECKOUT_PRICES: allows an order of more than ${inGroups(MINOR_MAX)} minor units with the tax of INVOICE`
}
