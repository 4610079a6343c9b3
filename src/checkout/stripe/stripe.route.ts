// POST /checkout/stripe: where Stripe tells what became of payments. Laws: nothing is read of a body that Stripe did not sign
// lately; a 2xx says that the event is done with, everything else has Stripe send it again.

import { Hono } from 'hono'
import type { Failure } from '../../core/failure.ts'
import { parseWith } from '../../core/schema-words.ts'
import { readText } from '../../edge/body.ts'
import { restFailure } from '../../edge/failure-wire.ts'
import { REQUEST_ID_HEADER } from '../../edge/request-id.ts'
import type { CheckoutEvents } from '../checkout-api.ts'
import { isSigned } from './stripe.client.ts'
import { newsOf, StripeEvent } from './stripe-event.ts'

export interface StripeRouteDeps {
  readonly events: CheckoutEvents
  readonly webhookSecret: string
  readonly requestId: () => string
  readonly now: () => number
}

const BODY_MAX_BYTES = 256 * 1024
const UNSIGNED: Failure = {
  kind: 'key_malformed',
  hint: 'This event is not signed with the webhook secret, or not lately: STRIPE_WEBHOOK_SECRET must be that of this endpoint.',
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
    const read = parseWith(StripeEvent, parsed(text.value))
    if (!read.ok) return refuse({ kind: 'bad_field', issues: read.error })
    const event = { id: read.value.id, type: read.value.type, news: newsOf(read.value) }
    const outcome = await events.hear(event)
    return Response.json({ received: true, outcome }, { headers: { [REQUEST_ID_HEADER]: requestId() } })
  })
  return app
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
