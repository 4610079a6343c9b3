// Takes the payment of one request: says how to pay, or reads the payment, holds it in the wallet's Payer, and settles it
// once the answer is ready. Invariant: a request whose payment has an unknown outcome is asked to repeat it, never to pay
// again.

import { sha256 } from '../../accounts/digest.client.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import { orReject } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { after } from '../../core/timers.client.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import { walletAccount } from './booking.ts'
import type { Offer } from './offer.ts'
import { PAYER_API_VERSION, type PayerApi } from './payer-api.ts'
import type { PaymentOrder, PaymentRefusal } from './payment.ts'
import { readPayment, requiredHeader, responseHeader, type SignedPayment } from './payment-header.client.ts'
import { usdText } from './price.ts'

/** Longer than the calls that a Payer makes. */
const BEGIN_TIMEOUT_MS = 20_000
const SETTLE_TIMEOUT_MS = 60_000

export interface PaymentDeps {
  readonly payer: (network: string, address: string) => PayerApi
  readonly nowMs: () => number
}

/** A request that costs something. */
export interface PricedRequest {
  readonly request: Request
  /** The body as it was sent; it is read only if the request has a payment. */
  readonly body: () => Promise<string>
  readonly offers: readonly Offer[]
  readonly call: PaymentOrder['call']
  readonly caller: PaymentOrder['caller']
  readonly waitUntil: WaitUntil
}

/** A failure and the headers of x402 that belong to it. */
export interface PaymentError {
  readonly failure: Failure
  readonly headers: Readonly<Record<string, string>>
}

interface Receipt {
  readonly headers: Readonly<Record<string, string>>
  readonly transaction: string
  /** The credits are in the wallet's account. */
  readonly isBooked: boolean
  /** This request took the payment. */
  readonly isFirst: boolean
}

/** A payment that waits for the answer. The caller calls exactly one of the methods, once. */
export interface HeldPayment {
  readonly account: AccountId
  readonly quote: Offer['quote']
  settle(): Promise<Result<Receipt, PaymentError>>
  /** The request was not answered, so nothing is paid. */
  release(): void
}

export async function holdPayment(
  priced: PricedRequest,
  deps: PaymentDeps,
): Promise<Result<HeldPayment, PaymentError>> {
  const { request, offers } = priced
  const { url } = request
  const header = request.headers.get('payment-signature')
  if (header === null) return err(demand(url, offers, howToPay(priced)))
  const payment = await readPayment(header, url, offers, deps.nowMs())
  if (!payment.ok) return err(demand(url, offers, payment.error))
  const order = await orderOf(payment.value, priced)
  const { requirement, authorization } = order
  const payer = deps.payer(requirement.network, authorization.from)
  const refused = (refusal: PaymentRefusal) => errorOf(refusal, url, offers)
  const begun = await orReject(payer.begin({ v: PAYER_API_VERSION, order }), BEGIN_TIMEOUT_MS, after).catch(() => null)
  if (begun === null) return err(refused({ kind: 'unavailable' }))
  if (!begun.ok) return err(refused(begun.refusal))
  const end = { v: PAYER_API_VERSION, nonce: authorization.nonce, holder: begun.holder }
  return ok({
    account: order.account,
    quote: payment.value.offer.quote,
    settle: async () => {
      const done = await orReject(payer.settle(end), SETTLE_TIMEOUT_MS, after).catch(() => null)
      if (done === null) return err(refused({ kind: 'pending' }))
      if (done.ok) return ok({ ...done, headers: responseHeader(payment.value, done.transaction) })
      const { failure, headers } = refused(done.refusal)
      return err({ failure, headers: { ...headers, ...responseHeader(payment.value, null, done.refusal.kind) } })
    },
    // Otherwise the lease would end by itself, but later.
    release: () => priced.waitUntil(payer.release(end).catch(() => undefined)),
  })
}

async function orderOf(payment: SignedPayment, { request, body, call, caller }: PricedRequest): Promise<PaymentOrder> {
  const { offer, authorization, signature } = payment
  const { requirement, quote } = offer
  const { method, url } = request
  const digest = await sha256(canonicalJson({ method, url, body: await sha256(await body()), call, requirement }))
  const account = walletAccount(authorization.from)
  return { ...quote, account, call, caller, digest, requirement, authorization, signature }
}

function howToPay({ request, offers, call }: PricedRequest): string {
  if (request.headers.has('x-payment'))
    return 'Version 1 of x402 is not supported. Pay with a client of version 2 (PAYMENT-SIGNATURE).'
  const prices = offers.map(
    ({ quote, requirement }) => `${usdText(quote.minor)} ${quote.currency.toUpperCase()} on ${requirement.network}`,
  )
  const pay = `pay ${prices.join(' or ')} by x402: PAYMENT-REQUIRED says how.`
  return call === null ? `To buy credits, ${pay}` : `No API key. Send it as "Authorization: Bearer <key>", or ${pay}`
}

function demand(url: string, offers: readonly Offer[], why: string): PaymentError {
  return { failure: { kind: 'payment_required', why }, headers: requiredHeader(url, offers, why) }
}

const REPEAT = 'Repeat the same request with the same PAYMENT-SIGNATURE header. Do not sign another payment.'
const RETRY_MS = 2_000
const LATER_MS = 60_000

function errorOf(
  { kind, why, retryMs = RETRY_MS }: PaymentRefusal,
  url: string,
  offers: readonly Offer[],
): PaymentError {
  const later = (what: string, hint = `${what}. ${REPEAT}`, retryAfterMs = retryMs): PaymentError => ({
    failure: { kind: 'unavailable', what, hint, retryAfterMs },
    headers: {},
  })
  const busy = (hint: string, retryAfterMs: number): PaymentError => ({
    failure: { kind: 'rate_limited', retryAfterMs, hint },
    headers: {},
  })
  switch (kind) {
    case 'pending':
      return later('It is not known yet whether the payment was made')
    case 'unavailable':
      return later('The payment could not be checked, and was not made')
    case 'unclear':
      return later(
        'It is not known whether the payment was made',
        'It is not known whether this payment was made. The operator will find out, and add its credits to the account of the wallet if it was.',
        LATER_MS,
      )
    case 'busy':
      return busy('Another request with this payment is in progress. Repeat this one in a second.', RETRY_MS)
    case 'too_many':
      return busy('This wallet has too many payments without an outcome. Retry in a minute.', LATER_MS)
    case 'invalid':
      return demand(url, offers, `The payment was refused (${why}). Sign a new one.`)
    case 'failed':
      return demand(url, offers, `The payment was not made (${why}). Sign a new one.`)
    case 'other_request':
      return demand(url, offers, 'This payment was made for another request. Sign a new one.')
    case 'used':
      return demand(
        url,
        offers,
        'This payment was used already. Sign a new one. If you got no answer for it, its credits will be in the account of the wallet.',
      )
    case 'credited':
      return demand(
        url,
        offers,
        'This payment was made, and its credits are in the account of the wallet: POST /x402/key returns a key for it.',
      )
  }
}
