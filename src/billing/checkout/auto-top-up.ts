// Automatic top-ups: what an account agreed to, its saved card, and what a charge of that card led to. Types and rules.

import * as z from 'zod'
import type { MicroCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { DAY_MS } from '../../core/time.ts'
import type { StoppedTopUp } from '../../metering/top-up-watch.ts'
import { grossOf, type InvoiceTerms } from './invoice-terms.ts'
import { MINOR_MAX, parseMoney } from './money.ts'
import { type CheckoutPrices, type PurchaseInput, type Quote, quoteFor } from './prices.ts'

/** Terms that the owner agreed to. */
export interface AutoTopUpSettings extends Quote {
  /** A balance below this is topped up. */
  readonly below: MicroCredits
  readonly purchase: PurchaseInput
  /** Maximum of all charges in a calendar month (UTC), in minor units. */
  readonly monthly: number
}

export interface SavedCard {
  readonly customer: string
  readonly method: string
  readonly face: CardFace
}

export const CardFace = z.object({
  brand: z.string().max(32).describe('Brand, such as `visa`'),
  last4: z.string().max(4).describe('Last four digits'),
  expires: z.string().max(7).describe('Month in which it expires, such as `2028-04`'),
})
export type CardFace = z.infer<typeof CardFace>

/** Reasons for which a charge fails. */
export type ChargeFailure = Exclude<StoppedTopUp['reason'], 'price_changed'>

export interface AutoTopUp {
  readonly account: AccountId
  readonly state: 'off' | 'on' | 'stopped'
  /** Null: never set. */
  readonly settings: AutoTopUpSettings | null
  readonly card: SavedCard | null
  /** Page on which a card can be saved; null: none is open. */
  readonly setup: { readonly session: string; readonly url: string; readonly createdMs: number } | null
  /** Null: it did not stop. */
  readonly stop: StoppedTopUp | null
  /** Time of the last failed charge of the saved card; null: none. */
  readonly failedMs: number | null
  /** Whether the webhook of the account knows of `stop`. */
  readonly isTold: boolean
}

export interface AutoTopUpChange {
  /** Unix ms. */
  readonly at: number
  /** Prefix of the first key in the rotation chain of the key that made the change; null: the operator or the gateway. */
  readonly by: string | null
  /** Id of the member who made the change; null: none. */
  readonly member: string | null
  readonly what: (typeof CHANGES)[number]
}
export const CHANGES = ['on', 'off', 'card_saved', 'card_removed', 'stopped'] as const

/** A page on which a card was saved. */
export interface CompletedSetup {
  readonly session: string
  /** By the clock of the provider. */
  readonly completedMs: number
}

/** Subject of an event of the provider. */
export type CardEvent =
  | { readonly kind: 'charge'; readonly account: AccountId }
  | ({ readonly kind: 'setup'; readonly account: AccountId } & CompletedSetup)
  | { readonly kind: 'card_gone'; readonly method: string }
  | { readonly kind: 'customer_gone'; readonly customer: string }

/** State of a charge at the provider. */
export type Charge =
  | { readonly kind: 'succeeded'; readonly reference: string; readonly minor: number; readonly currency: string }
  | { readonly kind: 'processing'; readonly reference: string }
  /** `reference`: null if the provider did not record the charge. */
  | { readonly kind: 'failed'; readonly reference: string | null; readonly reason: ChargeFailure }

/** A failed charge is not repeated earlier. */
export const RETRY_AFTER_MS = DAY_MS

/** Time from which on the card may be charged. */
export const chargeableMs = ({ failedMs }: Pick<AutoTopUp, 'failedMs'>) =>
  failedMs === null ? 0 : failedMs + RETRY_AFTER_MS

/** 00:00 UTC on the first day of this month, or of one `months` later. */
export function monthStart(nowMs: number, months = 0): number {
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)
}

export interface AutoTopUpInput extends PurchaseInput {
  readonly below: MicroCredits
  /** In units of the currency. */
  readonly monthly: string
}

const badField = (path: string, message: string) => err<Failure>({ kind: 'bad_field', issues: [{ path, message }] })

/** The settings at today's prices. */
export function settingsFrom(
  { below, monthly, ...purchase }: AutoTopUpInput,
  prices: CheckoutPrices,
  terms: InvoiceTerms | null,
): Result<AutoTopUpSettings, Failure> {
  const quote = quoteFor(prices, purchase)
  if (!quote.ok) return quote
  const { micro, currency } = quote.value
  const minor = grossOf(quote.value.minor, terms)
  const limit = parseMoney(monthly, currency)
  if (limit === null || limit > MINOR_MAX) return badField('monthly_limit', `must be an amount in ${currency}`)
  if (limit < minor) return badField('monthly_limit', 'must be at least the price of one top-up')
  return ok({ below, purchase, micro, minor, currency, monthly: limit })
}

/** Whether the purchase still costs what the owner agreed to. */
export function isAgreed(settings: AutoTopUpSettings, prices: CheckoutPrices, terms: InvoiceTerms | null): boolean {
  const quote = quoteFor(prices, settings.purchase)
  return (
    quote.ok &&
    quote.value.micro === settings.micro &&
    quote.value.currency === settings.currency &&
    grossOf(quote.value.minor, terms) === settings.minor
  )
}
