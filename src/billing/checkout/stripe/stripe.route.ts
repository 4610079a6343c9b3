// POST /checkout/stripe: receives payment events from Stripe. Invariants: a body that has no recent signature is
// not parsed; a 2xx means that the event is done, and any other status makes Stripe resend it; only a few fields are
// read, and an incomplete event causes no update.

import { Hono } from 'hono'
import * as z from 'zod'
import { readText } from '../../../core/body.ts'
import type { Failure } from '../../../core/failure.ts'
import { AccountId } from '../../../core/ids.ts'
import { parseJson } from '../../../core/json.ts'
import { parseWith } from '../../../core/validation-errors.ts'
import { restFailure } from '../../../protocol/failure-wire.ts'
import { REQUEST_ID_HEADER } from '../../../protocol/request-id.ts'
import type { CardEvent } from '../auto-top-up.ts'
import type { CheckoutEvents } from '../checkout-api.ts'
import type { PaymentUpdate } from '../purchase.ts'
import { isSigned } from './stripe.client.ts'

const Order = z.looseObject({ order: z.string().max(64), account: z.string().max(64).optional() })
const Sum = { currency: z.string().max(8) }

const Session = z.looseObject({
  id: z.string().max(255),
  metadata: Order,
  amount_total: z.int(),
  ...Sum,
  payment_status: z.string(),
})
const Charge = z.looseObject({ metadata: Order, amount_refunded: z.int(), ...Sum })

const StripeEvent = z.looseObject({
  id: z.string().regex(/^evt_\w{1,250}$/),
  type: z.string().regex(/^[a-z0-9_.]{1,100}$/),
  /** Unix seconds. */
  created: z.int(),
  data: z.looseObject({ object: z.unknown() }),
})
type StripeEvent = z.infer<typeof StripeEvent>

function paymentUpdateOf({ type, data: { object } }: StripeEvent): PaymentUpdate | null {
  if (type === 'charge.refunded') return refundUpdateOf(object)
  const [, , what] = /^(checkout\.session)\.(\w+)$/.exec(type) ?? []
  const session = Session.safeParse(object)
  if (what === undefined || !session.success) return null
  const { id: reference, metadata, amount_total: minor, currency, payment_status: status } = session.data
  const about = { number: metadata.order, account: metadata.account ?? null, reference }
  switch (what) {
    case 'completed':
    case 'async_payment_succeeded':
      return { ...about, what: status === 'paid' ? { kind: 'paid', minor, currency } : { kind: 'pending' } }
    case 'async_payment_failed':
      return { ...about, what: { kind: 'failed' } }
    case 'expired':
      return { ...about, what: { kind: 'expired' } }
    default:
      return null
  }
}

const OfTopUp = z.looseObject({ metadata: z.looseObject({ top_up: AccountId }) })
const Named = z.looseObject({ id: z.string().max(255) })
const Mandate = z.looseObject({ payment_method: z.string().max(255), status: z.string() })

/** Null: not an event of a saved card. Payments on a page have PaymentIntents too, without the mark of a top-up. */
function cardEventOf({ type, created, data: { object } }: StripeEvent): CardEvent | null {
  const topUp = OfTopUp.safeParse(object)
  if (topUp.success && type.startsWith('payment_intent.'))
    return { kind: 'charge', account: topUp.data.metadata.top_up }
  const named = Named.safeParse(object)
  if (topUp.success && named.success && type === 'checkout.session.completed')
    return {
      kind: 'setup',
      account: topUp.data.metadata.top_up,
      session: named.data.id,
      completedMs: created * 1000,
    }
  if (named.success && type === 'payment_method.detached') return { kind: 'card_gone', method: named.data.id }
  if (named.success && type === 'customer.deleted') return { kind: 'customer_gone', customer: named.data.id }
  const mandate = Mandate.safeParse(object)
  if (mandate.success && type === 'mandate.updated' && mandate.data.status === 'inactive')
    return { kind: 'card_gone', method: mandate.data.payment_method }
  return null
}

function refundUpdateOf(object: unknown): PaymentUpdate | null {
  const charge = Charge.safeParse(object)
  if (!charge.success) return null
  const { metadata, amount_refunded: minor, currency } = charge.data
  const about = { number: metadata.order, account: metadata.account ?? null, reference: null }
  return { ...about, what: { kind: 'refunded', minor, currency } }
}

export interface StripeRouteDeps {
  readonly events: CheckoutEvents
  readonly webhookSecret: string
  readonly requestId: () => string
  readonly now: () => number
}

const BODY_MAX_BYTES = 256 * 1024
const UNSIGNED: Failure = {
  kind: 'key_malformed',
  hint: 'This event has no valid or recent signature. STRIPE_WEBHOOK_SECRET must be the secret of this endpoint.',
}

export function stripeRoutes({ events, webhookSecret, requestId, now }: StripeRouteDeps): Hono {
  const app = new Hono()
  const refuse = (failure: Failure) => {
    const { status, headers, body } = restFailure(failure, requestId())
    return new Response(body, { status, headers })
  }
  app.post('/checkout/stripe', async (c) => {
    const { body, headers } = c.req.raw
    const text = await readText({ chunks: body, contentLength: headers.get('content-length') }, BODY_MAX_BYTES)
    if (!text.ok) return refuse(text.error)
    if (!(await isSigned(text.value, headers.get('stripe-signature'), webhookSecret, now()))) return refuse(UNSIGNED)
    const read = parseWith(StripeEvent, parseJson(text.value))
    if (!read.ok) return refuse({ kind: 'bad_field', issues: read.error })
    const { id, type } = read.value
    const event = { id, type, update: paymentUpdateOf(read.value), card: cardEventOf(read.value) }
    const outcome = await events.handle(event)
    return Response.json({ received: true, outcome }, { headers: { [REQUEST_ID_HEADER]: requestId() } })
  })
  return app
}
