// One automatic top-up, from the low balance to the credits. It may be called at any time, by several callers at once, and
// stop anywhere: each call reads where the order is and continues. Invariants (test/billing/checkout/auto-top-up.test.ts):
// an account has one order in flight; the charges of a month are never more than the owner's limit; an order is charged
// once and granted once; after a failed charge there is none for a day; nothing is charged after the owner turned it off,
// and nothing but what the owner agreed to.

import type { AccountId } from '../../../core/ids.ts'
import type { Result } from '../../../core/result.ts'
import { HOUR_MS, MINUTE_MS } from '../../../core/time.ts'
import type { StoppedTopUp, TopUpAnswer } from '../../../metering/top-up-watch.ts'
import {
  type AutoTopUp,
  type AutoTopUpSettings,
  type Charge,
  chargeableMs,
  isAgreed,
  monthStart,
} from '../auto-top-up.ts'
import type { CardProvider } from '../card-provider.ts'
import type { InvoiceTerms } from '../invoice-terms.ts'
import type { CheckoutPrices } from '../prices.ts'
import type { PaymentUpdate, Purchase } from '../purchase.ts'
import type { AutoTopUpStore } from './auto-top-up.store.ts'

export interface TopUpPorts {
  readonly store: Pick<
    AutoTopUpStore,
    'named' | 'inFlight' | 'order' | 'noteCharge' | 'fail' | 'drop' | 'stop' | 'noteTold' | 'chargedSince'
  >
  readonly cards: CardProvider
  readonly prices: CheckoutPrices
  readonly terms: InvoiceTerms | null
  /** Applies a payment and grants its credits, once. */
  settle(update: PaymentUpdate): Promise<unknown>
  /** Sends an event to the webhook of the account, once per id. */
  notify(account: AccountId, stop: StoppedTopUp): Promise<void>
  report(error: unknown): void
  suffix(): string
  nowMs(): number
}

/** A request that began before this has ended. */
const SENT_MS = MINUTE_MS
/** Stripe keeps the answer to an idempotency key for a day, so that a repeated charge is none for well below a day. */
const REPEATABLE_MS = 12 * HOUR_MS
const RETRY_MS = MINUTE_MS

const OFF: TopUpAnswer = { state: 'off' }
const IDLE: TopUpAnswer = { state: 'idle' }
const wait = (ms: number): TopUpAnswer => ({ state: 'wait', ms: Math.max(ms, RETRY_MS) })

/** `isLow`: the balance is below the level. The answer says when to call again. */
export async function advanceTopUp(ports: TopUpPorts, account: AccountId, isLow: boolean): Promise<TopUpAnswer> {
  const { store } = ports
  const order = await store.inFlight(account)
  if (order !== null && !(await isEnded(ports, order))) return wait(RETRY_MS)
  const current = await store.named(account)
  if (current === null) return OFF
  if (!current.isTold && current.stop !== null) {
    await ports.notify(account, current.stop)
    await store.noteTold(account, current.stop)
  }
  if (current.state !== 'on' || current.settings === null) return OFF
  // The credits of an order that just ended change the balance, and the meter asks again.
  if (!isLow || order !== null) return IDLE
  return begin(ports, current, current.settings)
}

async function begin(ports: TopUpPorts, current: AutoTopUp, settings: AutoTopUpSettings): Promise<TopUpAnswer> {
  const { store, prices, terms, nowMs, suffix } = ports
  const { account } = current
  if (!isAgreed(settings, prices, terms)) {
    await store.stop(account, 'price_changed', nowMs())
    return advanceTopUp(ports, account, false)
  }
  const now = nowMs()
  const order = await store.order(account, settings, suffix(), now)
  if (order !== null) return (await isEnded(ports, order)) ? advanceTopUp(ports, account, false) : wait(RETRY_MS)
  if (chargeableMs(current) > now) return wait(chargeableMs(current) - now)
  const charged = await store.chargedSince(account, settings.currency, monthStart(now))
  return wait(charged + settings.minor > settings.monthly ? monthStart(now, 1) - now : RETRY_MS)
}

/** Continues the order in flight. False: it is still in flight. */
async function isEnded(ports: TopUpPorts, order: Purchase): Promise<boolean> {
  const { store, cards, report, nowMs } = ports
  const { number, account, reference } = order
  if (order.state === 'paid') {
    await ports.settle({ number, account, reference, what: { kind: 'paid', ...order } })
    return true
  }
  const found = reference === null ? await sent(ports, order) : await cards.look(reference)
  if (!found.ok) {
    report(`automatic top-up ${number}: ${found.error}`)
    return false
  }
  const charge = found.value
  if (charge === null && reference !== null)
    report(`automatic top-up ${number}: the provider has no charge ${reference}`)
  if (charge === null) return nowMs() - order.created > SENT_MS && store.drop(order, 'not charged')
  if (charge.kind === 'succeeded') {
    const { minor, currency } = charge
    await ports.settle({ number, account, reference: charge.reference, what: { kind: 'paid', minor, currency } })
    return true
  }
  if (charge.kind === 'processing') {
    await store.noteCharge(order, charge.reference)
    return false
  }
  if (charge.reference !== null && !(await cards.cancel(charge.reference))) return false
  return store.fail(order, charge, nowMs())
}

/** The charge of an order without a reference. It is charged now if that is still wanted and cannot charge it twice. */
async function sent(ports: TopUpPorts, order: Purchase): Promise<Result<Charge | null, string>> {
  const { cards, nowMs } = ports
  if (nowMs() - order.created < REPEATABLE_MS && (await isWanted(ports, order))) return cards.charge(order)
  return cards.find(order)
}

/** Whether the owner agrees to this charge now. The settings may have changed since the order was made. */
async function isWanted({ store, nowMs }: TopUpPorts, order: Purchase): Promise<boolean> {
  const { account, micro, minor, currency, mandate } = order
  const current = await store.named(account)
  if (current?.state !== 'on' || current.card === null || current.settings === null) return false
  const { card, settings } = current
  const isSame = settings.micro === micro && settings.minor === minor && settings.currency === currency
  if (!isSame || mandate !== `${card.customer}/${card.method}`) return false
  return (await store.chargedSince(account, currency, monthStart(nowMs()))) + minor <= settings.monthly
}
