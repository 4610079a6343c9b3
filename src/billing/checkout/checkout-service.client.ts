// Selling credits, over D1, the meters and a provider. Invariants: an order is written down before anybody can pay it; paid comes
// before granted, and an event is done with only behind both, so that whatever ends in between is completed by the next
// delivery; the number of the order is the id of its grant.

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

/** Stripe's are there where Stripe is used alone. */
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
  /** Adds credits once per id. */
  grant(account: AccountId, id: string, micro: MicroCredits): Promise<Result<unknown, CheckoutError>>
  report(error: unknown): void
  nowMs(): number
}

/** Of one account, made within a day and not paid. */
const UNPAID_MAX = 20
const SUFFIX_LENGTH = 4
/** Two events of one order at once; more of them are sent again. */
const TRIES = 3

const NOT_SOLD: Failure = {
  kind: 'not_found',
  what: 'A checkout',
  hint: 'This gateway sells no credits by itself: ask whoever runs it for a top-up.',
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

  async start(account: AccountId, wanted: PurchaseInput): Promise<Result<Purchase, Failure>> {
    const { provider, prices, nowMs, report } = this.#ports
    if (provider === null) return err(NOT_SOLD)
    const quote = quoteFor(prices, wanted)
    if (!quote.ok) return quote
    const suffix = randomBase58(SUFFIX_LENGTH, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
    const order = await this.#store.add(account, quote.value, provider.name, suffix, UNPAID_MAX, nowMs())
    if (order === null)
      return err({ kind: 'limit_reached', limit: 'Unpaid orders of a day', most: UNPAID_MAX, hint: TOO_MANY })
    const begun = await provider.start(order)
    // An event that was faster has brought the reference.
    if (begun.ok) return ok((await this.#store.change(order, begun.value)) ?? { ...order, ...begun.value })
    report(`checkout ${order.number}: ${begun.error}`)
    await this.#store.change(order, { state: 'void', note: begun.error })
    return err({ kind: 'unavailable', what: 'The payment provider took no order' })
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
    // Or it would be paid twice; where it cannot end, this is the payment.
    await this.#ports.provider?.cancel(paid)
    return this.#grant(paid)
  }

  async void(number: string): Promise<Result<Purchase, CheckoutError>> {
    const order = await this.#store.named(number)
    if (order === null) return err(orderNotFound(number))
    if (order.state === 'void') return ok(order)
    if (order.state === 'paid')
      return err({ kind: 'conflict', message: 'number: this order is paid: give the money back where it was paid' })
    const cancelled = await this.#ports.provider?.cancel(order)
    if (cancelled && !cancelled.ok) return err({ kind: 'conflict', message: `number: ${cancelled.error}` })
    const made = await this.#store.change(order, { state: 'void', note: 'made void by the operator' })
    return made === null ? err(CHANGED) : ok(made)
  }

  async handle(event: ProviderEvent): Promise<string> {
    const before = await this.#store.outcome(event.id)
    if (before !== null) return before
    const outcome = event.update === null ? 'is no event of an order' : await this.#settle(event.update)
    await this.#store.note(event, outcome, this.#ports.nowMs())
    return outcome
  }

  async #settle(news: PaymentUpdate): Promise<string> {
    for (let tries = 0; tries < TRIES; tries++) {
      const order = await this.#store.named(news.number)
      if (order === null) return 'refused: is no order of this gateway'
      const { change, isDue, outcome } = settle(order, news, this.#ports.nowMs())
      const changed = Object.keys(change).length === 0 ? order : await this.#store.change(order, change)
      if (changed === null) continue
      if (change.note) this.#ports.report(`checkout ${order.number}: ${change.note}`)
      if (!isDue) return outcome
      const granted = await this.#grant(changed)
      return granted.ok ? outcome : 'refused: the grant was'
    }
    throw new Error(`order ${news.number} changes all the time`)
  }

  /** A grant that can never be is noted; one that failed for now rejects. */
  async #grant(order: Purchase): Promise<Result<Purchase, CheckoutError>> {
    const { grant, nowMs, report } = this.#ports
    const granted = await grant(order.account, order.number, order.micro)
    if (granted.ok) return ok(await this.#store.noteGrant(order.number, nowMs()))
    report(`checkout ${order.number}: its credits were refused (${granted.error.kind})`)
    await this.#store.change(order, { note: 'paid, and its credits could not be granted: grant them by hand' })
    return granted
  }
}

const CHANGED = { kind: 'conflict', message: 'number: the order changed just now: look, and try again' } as const
const TOO_MANY = `There are ${UNPAID_MAX} orders of the last day that are not paid: pay one of them, or order tomorrow.`

function orderNotFound(number: string): Failure {
  return { kind: 'not_found', what: 'This order', hint: `There is no order "${number}".` }
}
