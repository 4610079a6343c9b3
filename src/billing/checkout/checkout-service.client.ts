// Sells credits through D1, the meters and a payment provider. Invariants: a purchase is stored before it can be paid;
// payment is recorded before the grant, and an event is marked as processed only after both, so the next delivery of the
// event completes an interrupted one; the purchase number is the grant id.

import type { MicroCredits } from '../../core/amount.ts'
import { randomBase58 } from '../../core/base58.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import {
  type Checkout,
  type CheckoutEvents,
  MANUAL,
  type Provider,
  type ProviderEvent,
  type PurchaseQuery,
} from './checkout-api.ts'
import { type CheckoutPrices, type PurchaseInput, quoteFor } from './prices.ts'
import { type PaymentUpdate, type Purchase, settle } from './purchase.ts'
import { PurchaseStore } from './purchases.store.ts'
import { STRIPE_API, stripe } from './stripe/stripe.client.ts'

/** Stripe secrets exist only if Stripe is enabled. */
export interface CheckoutEnv {
  readonly ACCOUNTS: D1Database
  readonly STRIPE_SECRET_KEY?: string
  readonly STRIPE_WEBHOOK_SECRET?: string
}

export interface CheckoutSettings {
  readonly CHECKOUT: 'off' | Provider['name']
  readonly CHECKOUT_PRICES: CheckoutPorts['prices']
  readonly PUBLIC_URL: string
}

export function checkoutOf(
  { ACCOUNTS: db, STRIPE_SECRET_KEY: secretKey = '' }: CheckoutEnv,
  { CHECKOUT: name, CHECKOUT_PRICES: prices, PUBLIC_URL: publicUrl }: CheckoutSettings,
  deps: Pick<CheckoutPorts, 'grant' | 'report' | 'nowMs'>,
): CheckoutService {
  const providers = { off: null, manual: MANUAL, stripe: stripe({ secretKey, apiUrl: STRIPE_API, publicUrl }) }
  return new CheckoutService({ db, prices, provider: providers[name], ...deps })
}

type CheckoutError = Failure | { readonly kind: 'conflict'; readonly message: string }

export interface CheckoutPorts {
  readonly db: D1Database
  readonly prices: CheckoutPrices
  readonly provider: Provider | null
  /** Adds credits, once per id. */
  grant(account: AccountId, id: string, micro: MicroCredits): Promise<Result<unknown, CheckoutError>>
  report(error: unknown): void
  nowMs(): number
}

/** Maximum number of unpaid purchases per account per day. */
const UNPAID_MAX = 20
const SUFFIX_LENGTH = 4
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

  constructor(ports: CheckoutPorts) {
    this.#ports = ports
    this.#store = new PurchaseStore(ports.db)
  }

  get prices(): CheckoutPrices {
    return this.#ports.prices
  }

  get provider(): Provider['name'] | null {
    return this.#ports.provider?.name ?? null
  }

  async start(account: AccountId, input: PurchaseInput): Promise<Result<Purchase, Failure>> {
    const { provider, prices, nowMs, report } = this.#ports
    if (provider === null) return err(NOT_SOLD)
    const quote = quoteFor(prices, input)
    if (!quote.ok) return quote
    const suffix = randomBase58(SUFFIX_LENGTH, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
    const order = await this.#store.add(account, quote.value, provider.name, suffix, UNPAID_MAX, nowMs())
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

  async pay(number: string): Promise<Result<Purchase, CheckoutError>> {
    const order = await this.#store.named(number)
    if (order === null) return err(orderNotFound(number))
    if (order.granted !== null) return ok(order)
    const change = { state: 'paid', paid: order.paid ?? this.#ports.nowMs(), note: null } as const
    const paid = await this.#store.change(order, change)
    if (paid === null) return err(CHANGED)
    // Prevents a second payment. A session that cannot be canceled may be the one that was just paid.
    await this.#ports.provider?.cancel(paid)
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
    const cancelled = await this.#ports.provider?.cancel(order)
    if (cancelled && !cancelled.ok) return err({ kind: 'conflict', message: `number: ${cancelled.error}` })
    const voided = await this.#store.change(order, { state: 'void', note: 'voided by the operator' })
    return voided === null ? err(CHANGED) : ok(voided)
  }

  async handle(event: ProviderEvent): Promise<string> {
    const before = await this.#store.outcome(event.id)
    if (before !== null) return before
    const outcome = event.update === null ? 'not an event of an order' : await this.#settle(event.update)
    await this.#store.note(event, outcome, this.#ports.nowMs())
    return outcome
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

  /** Records a grant that can never succeed; rejects on a temporary failure. */
  async #grant(order: Purchase): Promise<Result<Purchase, CheckoutError>> {
    const { grant, nowMs, report } = this.#ports
    const granted = await grant(order.account, order.number, order.micro)
    if (granted.ok) return ok(await this.#store.noteGrant(order.number, nowMs()))
    report(`checkout ${order.number}: its credits were refused (${granted.error.kind})`)
    await this.#store.change(order, { note: 'paid, but its credits could not be granted: grant them manually' })
    return granted
  }
}

const CHANGED = { kind: 'conflict', message: 'number: the order was just changed. Reload it and try again.' } as const
const TOO_MANY = `This account has ${UNPAID_MAX} unpaid orders from the last day. Pay one of them, or order tomorrow.`

function orderNotFound(number: string): Failure {
  return { kind: 'not_found', what: 'This order', hint: `There is no order "${number}".` }
}
