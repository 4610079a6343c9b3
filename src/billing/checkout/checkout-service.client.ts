// Sells credits through D1, the meters and a payment provider. Invariants: a purchase is stored before it can be paid;
// payment is recorded before the grant, and an event is marked as processed only after both, so the next delivery of the
// event completes an interrupted one; the purchase number is the grant id.

import { randomBase58 } from '../../core/base58.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { DAY_MS } from '../../core/time.ts'
import type { TopUpMeterApi } from '../../metering/top-up-watch.ts'
import type { CardProvider } from './card-provider.ts'
import {
  type Checkout,
  type CheckoutError,
  type CheckoutEvents,
  MANUAL,
  type Provider,
  type ProviderEvent,
  type PurchaseQuery,
} from './checkout-api.ts'
import { type Invoice, invoiceOf } from './invoice.ts'
import { grossOf, type InvoiceTerms } from './invoice-terms.ts'
import { type CheckoutPrices, type PurchaseInput, quoteFor } from './prices.ts'
import { type PaymentUpdate, type Purchase, recordedRefund, settle } from './purchase.ts'
import { type GrantPorts, grantPurchase } from './purchase-grant.client.ts'
import { PurchaseStore } from './purchases.store.ts'
import { stripe } from './stripe/stripe.client.ts'
import { stripeCards } from './stripe/stripe-cards.client.ts'
import { STRIPE_API } from './stripe/stripe-http.client.ts'
import { AutoTopUpStore } from './top-ups/auto-top-up.store.ts'
import { AutoTopUps } from './top-ups/auto-top-ups.client.ts'

/** Stripe secrets exist only if Stripe is enabled. */
export interface CheckoutEnv {
  readonly ACCOUNTS: D1Database
  readonly STRIPE_SECRET_KEY?: string
  readonly STRIPE_WEBHOOK_SECRET?: string
}

export interface CheckoutSettings {
  readonly CHECKOUT: 'off' | Provider['name']
  readonly CHECKOUT_PRICES: CheckoutPorts['prices']
  readonly INVOICE: CheckoutPorts['terms']
  readonly PUBLIC_URL: string
}

export function checkoutOf(
  { ACCOUNTS: db, STRIPE_SECRET_KEY: secretKey = '' }: CheckoutEnv,
  { CHECKOUT: name, CHECKOUT_PRICES: prices, INVOICE: terms, PUBLIC_URL: publicUrl }: CheckoutSettings,
  deps: Pick<CheckoutPorts, 'grant' | 'report' | 'nowMs' | 'meterOf'>,
): CheckoutService {
  const ports = { secretKey, apiUrl: STRIPE_API, publicUrl }
  const providers = { off: null, manual: MANUAL, stripe: stripe(ports) }
  const cards = name === 'stripe' ? stripeCards(ports) : null
  return new CheckoutService({ db, prices, terms, provider: providers[name], cards, ...deps })
}

export interface CheckoutPorts extends GrantPorts {
  readonly db: D1Database
  readonly prices: CheckoutPrices
  /** Of invoices; null: orders have none. */
  readonly terms: InvoiceTerms | null
  readonly provider: Provider | null
  /** Null: the provider saves no cards. */
  readonly cards: CardProvider | null
  meterOf(account: AccountId): TopUpMeterApi
}

/** Maximum number of unpaid purchases per account per day. */
const UNPAID_MAX = 20
const SUFFIX_LENGTH = 4
const suffix = () => randomBase58(SUFFIX_LENGTH, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
/** Maximum number of attempts if concurrent events conflict. After that, the provider resends the event. */
const TRIES = 3

const NOT_SOLD: Failure = {
  kind: 'not_found',
  what: 'A checkout',
  hint: 'This gateway does not sell credits. Ask its operator for a top-up.',
}

export class CheckoutService implements Checkout, CheckoutEvents {
  readonly #ports: CheckoutPorts
  readonly #store: PurchaseStore
  readonly autoTopUps: AutoTopUps | null

  constructor(ports: CheckoutPorts) {
    this.#ports = ports
    this.#store = new PurchaseStore(ports.db, ports.terms)
    const { cards, meterOf } = ports
    this.autoTopUps =
      cards &&
      new AutoTopUps({
        ...ports,
        cards,
        store: new AutoTopUpStore(ports.db, this.#store),
        settle: (update) => this.#settle(update),
        suffix,
        notify: (account, stop) => meterOf(account).topUpStopped(account, stop),
        watch: (watch, isNew) => meterOf(watch.account).watchTopUp(watch, isNew),
      })
  }

  get prices(): CheckoutPrices {
    return this.#ports.prices
  }

  get tax(): InvoiceTerms['tax'] {
    return this.#ports.terms?.tax ?? null
  }

  get provider(): Provider['name'] | null {
    return this.#ports.provider?.name ?? null
  }

  async start(account: AccountId, input: PurchaseInput): Promise<Result<Purchase, Failure>> {
    const { provider, prices, terms, nowMs, report } = this.#ports
    if (provider === null) return err(NOT_SOLD)
    const quote = quoteFor(prices, input)
    if (!quote.ok) return quote
    const priced = { ...quote.value, minor: grossOf(quote.value.minor, terms) }
    const order = await this.#store.add(account, priced, provider.name, suffix(), UNPAID_MAX, nowMs())
    if (order === null)
      return err({ kind: 'limit_reached', limit: 'Unpaid purchases per day', most: UNPAID_MAX, hint: TOO_MANY })
    const session = await provider.start(order)
    // A payment event may have arrived first and set the reference already.
    if (session.ok) return ok((await this.#store.change(order, session.value)) ?? { ...order, ...session.value })
    report(`checkout ${order.number}: ${session.error}`)
    await this.#store.change(order, { state: 'void', note: session.error })
    return err({ kind: 'unavailable', what: 'The payment provider did not accept the order' })
  }

  list(query: PurchaseQuery): Promise<Purchase[]> {
    return this.#store.list(query)
  }

  async invoice(number: string, account: AccountId): Promise<Result<Invoice, Failure>> {
    const invoiced = await this.#store.invoiced(number, account)
    return invoiced === null ? err(invoiceNotFound(number)) : ok(invoiceOf(invoiced, this.prices.instructions))
  }

  async pay(number: string): Promise<Result<Purchase, CheckoutError>> {
    const order = await this.#store.named(number)
    if (order === null) return err(orderNotFound(number))
    if (order.granted !== null) return ok(order)
    // Its wallet's Payer grants it, together with the charge for its call. A note says that it could not.
    if (order.receipt !== null && order.note === null) return err(IN_PROGRESS)
    const change = { state: 'paid', paid: order.paid ?? this.#ports.nowMs(), note: null } as const
    const paid = await this.#store.change(order, change)
    if (paid === null) return err(CHANGED)
    // Prevents a second payment. A session that cannot be canceled may be the one that was just paid.
    await this.#cancel(paid)
    return this.#grant(paid)
  }

  async void(number: string): Promise<Result<Purchase, CheckoutError>> {
    const order = await this.#store.named(number)
    if (order === null) return err(orderNotFound(number))
    if (order.state === 'void') return ok(order)
    if (order.state === 'paid')
      return err({
        kind: 'conflict',
        message: 'number: this order is already paid. Refund it through the payment provider.',
      })
    const isNew = this.#ports.nowMs() - order.created < DAY_MS
    if (isNew && order.mandate !== null && order.state === 'open' && this.autoTopUps !== null) return err(CHARGING)
    const cancelled = await this.#cancel(order)
    if (!cancelled.ok) return err({ kind: 'conflict', message: `number: ${cancelled.error}` })
    const voided = await this.#store.change(order, { state: 'void', note: 'voided by the operator' })
    return voided === null ? err(CHANGED) : ok(voided)
  }

  async recordRefund(number: string, amount: string): Promise<Result<Purchase, CheckoutError>> {
    const order = await this.#store.named(number)
    if (order === null) return err(orderNotFound(number))
    const recorded = recordedRefund(order, amount, this.#ports.nowMs())
    if (!recorded.ok) return recorded
    if (Object.keys(recorded.value).length === 0) return ok(order)
    const refunded = await this.#store.change(order, recorded.value)
    return refunded === null ? err(CHANGED) : ok(refunded)
  }

  async handle(event: ProviderEvent): Promise<string> {
    const before = await this.#store.outcome(event.id)
    if (before !== null) return before
    const outcome = await this.#outcomeOf(event)
    await this.#store.note(event, outcome, this.#ports.nowMs())
    return outcome
  }

  async #outcomeOf({ update, card }: ProviderEvent): Promise<string> {
    if (update !== null) return this.#settle(update)
    return card !== null && this.autoTopUps !== null ? this.autoTopUps.handle(card) : 'not an event of an order'
  }

  async #settle(update: PaymentUpdate): Promise<string> {
    for (let tries = 0; tries < TRIES; tries++) {
      const order = await this.#store.named(update.number)
      if (order === null) return 'refused: not an order of this gateway'
      const { change, isDue, outcome } = settle(order, update, this.#ports.nowMs())
      const changed = Object.keys(change).length === 0 ? order : await this.#store.change(order, change)
      if (changed === null) continue
      if (change.note) this.#ports.report(`checkout ${order.number}: ${change.note}`)
      if (!isDue) return outcome
      const granted = await this.#grant(changed)
      return granted.ok ? outcome : 'refused: the credits could not be granted'
    }
    throw new Error(`order ${update.number} keeps changing`)
  }

  /** Ends a session at the provider. Orders of other providers have none. */
  async #cancel(order: Purchase): Promise<Result<void, string>> {
    const { provider } = this.#ports
    return provider?.name === order.provider ? provider.cancel(order) : ok(undefined)
  }

  #grant(order: Purchase): Promise<Result<Purchase, CheckoutError>> {
    return grantPurchase(this.#ports, this.#store, order)
  }
}

const IN_PROGRESS = {
  kind: 'conflict',
  message: 'number: the payment of this order was made, and its credits are being granted. Nothing is to be done.',
} as const
const CHARGING = {
  kind: 'conflict',
  message: 'number: the saved card is being charged for this order. Its outcome is known within a day.',
} as const
const CHANGED = { kind: 'conflict', message: 'number: the order was just changed. Reload it and try again.' } as const
const TOO_MANY = `This account has ${UNPAID_MAX} unpaid orders from the last day. Pay one of them, or order tomorrow.`

function orderNotFound(number: string): Failure {
  return { kind: 'not_found', what: 'This order', hint: `There is no order "${number}".` }
}

function invoiceNotFound(number: string): Failure {
  return { kind: 'not_found', what: 'This invoice', hint: `This account has no invoice "${number}".` }
}
