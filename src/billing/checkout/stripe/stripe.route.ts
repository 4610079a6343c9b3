// POST /checkout/stripe: receives payment events from Stripe. Invariants: a body that has no recent signature is
// not parsed; a 2xx means that the event is done, and any other status makes Stripe resend it; only a few fields are
// read, and an incomplete event causes no update.

import { Hono } from 'hono'
import * as z from 'zod'
import { readText } from '../../../core/body.ts'
import type { Failure } from '../../../core/failure.ts'
import { parseJson } from '../../../core/json.ts'
import { parseWith } from '../../../core/validation-errors.ts'
import { restFailure } from '../../../protocol/failure-wire.ts'
import { REQUEST_ID_HEADER } from '../../../protocol/request-id.ts'
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
    const event = { id: read.value.id, type: read.value.type, update: paymentUpdateOf(read.value) }
    const outcome = await events.handle(event)
    return Response.json({ received: true, outcome }, { headers: { [REQUEST_ID_HEADER]: requestId() } })
  })
  return app
}
