// POST /x402/credits?usd=5: one payment by x402 adds credits to the account of its wallet. The first one creates the
// account, and the reply has an API key if the account has no active key of x402. Invariants: the key is issued after the
// credits are granted, and only to the request that took the payment; a repeated payment grants nothing again.

import { Hono } from 'hono'
import { AddressLimiter, KEYLESS_REQUESTS } from '../../accounts/address-limiter.ts'
import type { IssueKey } from '../../billing/x402/booking.ts'
import { type Offer, offerOn } from '../../billing/x402/offer.ts'
import type { PaymentDeps, PaymentError } from '../../billing/x402/payment-service.client.ts'
import { quoteForUsd, usdText } from '../../billing/x402/price.ts'
import type { PaymentNetwork } from '../../billing/x402/settings.ts'
import { formatCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import { infoFailure } from '../../protocol/failure-wire.ts'

export interface CreditsDeps extends PaymentDeps {
  readonly networks: readonly PaymentNetwork[]
  readonly issueKey: IssueKey
  readonly addressOf: (request: Request) => string | null
  readonly requestId: () => string
  readonly report: (error: unknown, requestId: string) => void
}

export function creditsRoutes(deps: CreditsDeps): Hono {
  const app = new Hono()
  app.post('/x402/credits', async (c) => {
    const requestId = deps.requestId()
    const selling = sell(c.req.raw, (work) => c.executionCtx.waitUntil(work), deps, requestId)
    // A buyer who has left gets the same reply for the same payment later.
    c.executionCtx.waitUntil(selling.catch(() => undefined))
    const sold = await selling
    if (sold.ok) return c.json(sold.value.body, 201, { ...sold.value.headers, 'cache-control': 'no-store' })
    const { status, headers, body } = infoFailure(sold.error.failure, requestId)
    return new Response(body, { status, headers: { ...headers, ...sold.error.headers } })
  })
  return app
}

const gate = new AddressLimiter(KEYLESS_REQUESTS)

type Sale = { readonly body: object; readonly headers: Readonly<Record<string, string>> }

const failed = (failure: Failure) => err<PaymentError>({ failure, headers: {} })

/** A body is ignored. */
async function sell(
  request: Request,
  waitUntil: WaitUntil,
  deps: CreditsDeps,
  requestId: string,
): Promise<Result<Sale, PaymentError>> {
  const { waitMs, limit } = gate.take(deps.addressOf(request), deps.nowMs())
  if (waitMs > 0) return failed({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
  const offers = offersFor(request, deps.networks)
  if (!offers.ok) return failed(offers.error)
  const { holdPayment } = await import('../../billing/x402/payment-service.client.ts')
  const body = async () => ''
  const held = await holdPayment({ request, body, offers: offers.value, call: null, caller: '', waitUntil }, deps)
  if (!held.ok) return held
  const { account, quote, settle } = held.value
  const paid = await settle()
  if (!paid.ok) return paid
  const { headers, transaction, isBooked, isFirst } = paid.value
  // The chain shows everything that a payment has, so a repeated one proves nothing about its sender.
  const issued = isBooked && isFirst ? await issuedKey(account, deps, requestId) : null
  const key = issued?.key ?? null
  const sale = {
    account,
    credits: formatCredits(quote.micro),
    usd: usdText(quote.minor),
    transaction,
    key,
    ...(key === null && { hint: isBooked ? HAS_KEY : NOT_BOOKED }),
  }
  return ok({ body: sale, headers })
}

const HAS_KEY = 'If you have no key of the account, POST /x402/key with a message signed by the wallet returns one.'
const NOT_BOOKED =
  'The payment was made. Its credits will be added within minutes. Then POST /x402/key with a message signed by the wallet returns a key.'

async function issuedKey(account: string, { issueKey, report }: CreditsDeps, requestId: string) {
  try {
    return await issueKey(account, 'first', 'api')
  } catch (error) {
    // The payment was made, so the reply must not be an error.
    report(error, requestId)
    return null
  }
}

function offersFor({ url }: Request, networks: readonly PaymentNetwork[]): Result<readonly Offer[], Failure> {
  const parameters = new URL(url).searchParams
  const usd = parameters.get('usd') ?? ''
  const offers: Offer[] = []
  for (const network of networks) {
    const quote = quoteForUsd(usd, network)
    if (!quote.ok) return err({ kind: 'bad_field', issues: [{ path: 'usd', message: quote.error }] })
    offers.push(offerOn(network, quote.value))
  }
  return ok(offers)
}
