// Cards that are saved with Stripe, and charges of them without the owner being present (PaymentIntents). Invariants: an
// order has one PaymentIntent, however often it is charged (Idempotency-Key, which Stripe keeps for a day); no outcome is
// assumed for a request without a response.

import * as z from 'zod'
import { err, ok, type Result } from '../../../core/result.ts'
import type { Charge, ChargeFailure, SavedCard } from '../auto-top-up.ts'
import type { CardProvider, CardSetup, ChargeResult } from '../card-provider.ts'
import type { Purchase } from '../purchase.ts'
import { callStripe, type StripeError, type StripePorts } from './stripe-http.client.ts'

const SetupPage = z.looseObject({ id: z.string().regex(/^cs_\w{1,250}$/), url: z.url({ protocol: /^https?$/ }) })

const Setup = z.looseObject({
  client_reference_id: z.string().max(255).nullable(),
  customer: z.string().max(255).nullable(),
  setup_intent: z
    .looseObject({
      status: z.string(),
      payment_method: z
        .looseObject({
          id: z.string().regex(/^pm_\w{1,250}$/),
          card: z.looseObject({
            brand: z.string().max(32),
            last4: z.string().max(4),
            exp_month: z.int().min(1).max(12),
            exp_year: z.int().max(9_999),
          }),
        })
        .nullable(),
    })
    .nullable(),
})

const Intent = z.looseObject({
  id: z.string().regex(/^pi_\w{1,250}$/),
  status: z.string(),
  amount_received: z.int(),
  currency: z.string().max(8),
  last_payment_error: z
    .looseObject({ code: z.string().max(64).nullable().default(null) })
    .nullable()
    .default(null),
  metadata: z.looseObject({ order: z.string().max(64).optional() }),
})
type Intent = z.infer<typeof Intent>

const Intents = z.looseObject({ data: z.array(Intent) })
const Anything = z.looseObject({})

/** Clocks may differ by this much. */
const SKEW_S = 300
const LISTED_MAX = 100

export function stripeCards(ports: StripePorts): CardProvider {
  return {
    openSetup: (account) => openSetup(ports, account),
    savedCard: (session, account) => savedCard(ports, session, account),
    detach: (method) => detach(ports, method),
    charge: (order) => charge(ports, order),
    look: (reference) => look(ports, reference),
    find: (order) => find(ports, order),
    cancel: (reference) => cancel(ports, reference),
  }
}

async function openSetup(ports: StripePorts, account: string): Promise<Result<CardSetup, string>> {
  if (ports.secretKey === '') return err('STRIPE_SECRET_KEY is not set')
  const back = `${ports.publicUrl}/console?page=billing`
  const form = new URLSearchParams([
    ['mode', 'setup'],
    ['customer_creation', 'always'],
    ['payment_method_types[0]', 'card'],
    ['client_reference_id', account],
    ['metadata[top_up]', account],
    ['success_url', back],
    ['cancel_url', back],
  ])
  const page = await callStripe(ports, { method: 'POST', path: '/v1/checkout/sessions', schema: SetupPage, form })
  return page.ok ? ok({ session: page.value.id, url: page.value.url }) : err(page.error.text)
}

async function savedCard(
  ports: StripePorts,
  session: string,
  account: string,
): Promise<Result<SavedCard | null, string>> {
  const path = `/v1/checkout/sessions/${encodeURIComponent(session)}?expand[]=setup_intent.payment_method`
  const found = await callStripe(ports, { method: 'GET', path, schema: Setup })
  if (!found.ok) return err(found.error.text)
  const { client_reference_id: owner, customer, setup_intent: intent } = found.value
  const method = intent?.status === 'succeeded' ? intent.payment_method : null
  if (owner !== account || method === null || customer === null) return ok(null)
  const { brand, last4, exp_month: month, exp_year: year } = method.card
  const expires = `${year}-${String(month).padStart(2, '0')}`
  return ok({ customer, method: method.id, face: { brand, last4, expires } })
}

/** A card that is not attached counts as detached. */
async function detach(ports: StripePorts, method: string): Promise<Result<void, string>> {
  const path = `/v1/payment_methods/${encodeURIComponent(method)}/detach`
  const form = new URLSearchParams()
  const detached = await callStripe(ports, { method: 'POST', path, schema: Anything, form })
  return detached.ok || isInvalid(detached.error) ? ok(undefined) : err(detached.error.text)
}

const isInvalid = ({ status, type }: StripeError) =>
  (status === 400 || status === 404) && type === 'invalid_request_error'

/** Parts of the mandate. */
function partsOf({ mandate }: Pick<Purchase, 'mandate'>): readonly [customer: string, method: string] {
  const [customer = '', method = ''] = (mandate ?? '').split('/')
  return [customer, method]
}

async function charge(ports: StripePorts, order: Purchase): Promise<ChargeResult> {
  const { number, account, minor, currency } = order
  const [customer, method] = partsOf(order)
  const form = new URLSearchParams([
    ['amount', String(minor)],
    ['currency', currency],
    ['customer', customer],
    ['payment_method', method],
    ['payment_method_types[0]', 'card'],
    ['off_session', 'true'],
    ['confirm', 'true'],
    ['metadata[order]', number],
    ['metadata[account]', account],
    // Tells its events from those of payments on a page, which also name their order.
    ['metadata[top_up]', account],
  ])
  const idempotencyKey = `weir-${number}`
  const made = await callStripe(ports, {
    method: 'POST',
    path: '/v1/payment_intents',
    schema: Intent,
    form,
    idempotencyKey,
  })
  if (made.ok) return ok(chargeOf(made.value))
  const { status, code, param, intent, text } = made.error
  if (status === 402) return ok({ kind: 'failed', reference: intent, reason: failureOf(code) })
  if (!isInvalid(made.error)) return err(text)
  const isGone = code === 'resource_missing' || param === 'payment_method' || param === 'customer'
  return ok({ kind: 'failed', reference: intent, reason: isGone ? 'card_removed' : 'declined' })
}

const failureOf = (code: string | null): ChargeFailure =>
  code === 'authentication_required' ? 'authentication_required' : 'declined'

function chargeOf({
  id: reference,
  status,
  amount_received: minor,
  currency,
  last_payment_error: error,
}: Intent): Charge {
  if (status === 'succeeded') return { kind: 'succeeded', reference, minor, currency }
  if (status === 'processing' || status === 'requires_capture') return { kind: 'processing', reference }
  const reason = status === 'requires_action' ? 'authentication_required' : failureOf(error?.code ?? null)
  return { kind: 'failed', reference, reason }
}

const pathOf = (reference: string) => `/v1/payment_intents/${encodeURIComponent(reference)}`

const unlessMissing = ({ code, text }: StripeError) => (code === 'resource_missing' ? ok(null) : err(text))

async function look(ports: StripePorts, reference: string): Promise<Result<Charge | null, string>> {
  const found = await callStripe(ports, { method: 'GET', path: pathOf(reference), schema: Intent })
  return found.ok ? ok(chargeOf(found.value)) : unlessMissing(found.error)
}

async function find(ports: StripePorts, order: Purchase): Promise<Result<Charge | null, string>> {
  const since = Math.floor(order.created / 1000) - SKEW_S
  const query = new URLSearchParams([
    ['customer', partsOf(order)[0]],
    ['created[gte]', String(since)],
    ['limit', String(LISTED_MAX)],
  ])
  const found = await callStripe(ports, { method: 'GET', path: `/v1/payment_intents?${query}`, schema: Intents })
  if (!found.ok) return unlessMissing(found.error)
  const intent = found.value.data.find(({ metadata }) => metadata.order === order.number)
  return ok(intent === undefined ? null : chargeOf(intent))
}

/** True: the charge can no longer succeed. */
async function cancel(ports: StripePorts, reference: string): Promise<boolean> {
  const form = new URLSearchParams()
  const path = `${pathOf(reference)}/cancel`
  const cancelled = await callStripe(ports, { method: 'POST', path, schema: Intent, form })
  if (cancelled.ok) return true
  const found = await callStripe(ports, { method: 'GET', path: pathOf(reference), schema: Intent })
  return found.ok && found.value.status === 'canceled'
}

/** Ensures that the charge of an order can no longer succeed. */
export async function cancelChargeOf(ports: StripePorts, order: Purchase): Promise<Result<void, string>> {
  const found = order.reference === null ? await find(ports, order) : await look(ports, order.reference)
  if (!found.ok) return err(`the charge of the saved card may still succeed: ${found.error}`)
  if (found.value === null) return ok(undefined)
  const { kind, reference } = found.value
  if (kind !== 'succeeded' && (reference === null || (await cancel(ports, reference)))) return ok(undefined)
  return err('the saved card was charged, or the charge is in progress. Refund it at Stripe.')
}
