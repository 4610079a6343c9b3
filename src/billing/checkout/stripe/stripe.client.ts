// Stripe Checkout over its HTTP API, and signature verification. Invariants: a purchase creates one session, however
// often it is requested (Idempotency-Key); the secret key is sent only to Stripe.

import * as z from 'zod'
import { formatCredits } from '../../../core/amount.ts'
import { err, ok } from '../../../core/result.ts'
import { constantTimeEqual } from '../../../core/secret.ts'
import type { Provider } from '../checkout-api.ts'
import type { Purchase } from '../purchase.ts'
import { cancelChargeOf } from './stripe-cards.client.ts'
import { callStripe, type StripePorts } from './stripe-http.client.ts'

/** Maximum difference between an event's timestamp and our clock, in either direction. */
const TOLERANCE_SECONDS = 300
/** An event has two signatures while its secret is being rotated. */
const SIGNATURES_MAX = 8

interface StripeSignature {
  /** The original string, which is part of the signed data. */
  readonly time: string
  readonly signatures: readonly string[]
}

function signatureOf(header: string | null): StripeSignature | null {
  const parts = (header ?? '').slice(0, 2_048).split(',')
  const valuesOf = (name: string) =>
    parts.flatMap((part) => (part.trim().startsWith(`${name}=`) ? [part.trim().slice(name.length + 1)] : []))
  const [time, another] = valuesOf('t')
  const signatures = valuesOf('v1')
    .filter((each) => /^[0-9a-f]{64}$/.test(each))
    .slice(0, SIGNATURES_MAX)
  if (time === undefined || another !== undefined || !/^\d{1,12}$/.test(time) || signatures.length === 0) return null
  return { time, signatures }
}

function isInTime({ time }: StripeSignature, nowMs: number): boolean {
  return Math.abs(nowMs / 1000 - Number(time)) <= TOLERANCE_SECONDS
}

const Session = z.looseObject({ id: z.string().regex(/^cs_\w{1,250}$/), url: z.url({ protocol: /^https?$/ }) })
const Status = z.looseObject({ status: z.string().nullable() })

export function stripe(ports: StripePorts): Provider {
  return {
    name: 'stripe',
    start: async (order) => {
      if (ports.secretKey === '') return err('STRIPE_SECRET_KEY is not set')
      const form = sessionForm(order, ports.publicUrl)
      const session = await callStripe(ports, {
        method: 'POST',
        path: '/v1/checkout/sessions',
        schema: Session,
        form,
        idempotencyKey: `weir-${order.number}`,
      })
      return session.ok ? ok({ reference: session.value.id, url: session.value.url }) : err(session.error.text)
    },
    cancel: async (order) => {
      const { reference, mandate } = order
      if (mandate !== null) return cancelChargeOf(ports, order)
      if (reference === null) return ok(undefined)
      const path = `/v1/checkout/sessions/${encodeURIComponent(reference)}`
      const form = new URLSearchParams()
      const expired = await callStripe(ports, { method: 'POST', path: `${path}/expire`, schema: Status, form })
      if (expired.ok) return ok(undefined)
      const found = await callStripe(ports, { method: 'GET', path, schema: Status })
      if (found.ok && found.value.status === 'expired') return ok(undefined)
      return err(`Stripe did not expire its session, which may still be paid: ${expired.error.text}`)
    },
  }
}

/** Session parameters. `metadata` is returned with session and charge events. */
function sessionForm({ number, account, micro, minor, currency }: Purchase, publicUrl: string): URLSearchParams {
  const about = { order: number, account }
  const back = `${publicUrl}/console?order=${encodeURIComponent(number)}`
  const item = 'line_items[0]'
  return new URLSearchParams([
    ['mode', 'payment'],
    ['client_reference_id', number],
    ['success_url', back],
    ['cancel_url', back],
    [`${item}[quantity]`, '1'],
    [`${item}[price_data][currency]`, currency],
    [`${item}[price_data][unit_amount]`, String(minor)],
    [`${item}[price_data][product_data][name]`, `${formatCredits(micro)} credits`],
    ...Object.entries(about).flatMap(([name, value]) => [
      [`metadata[${name}]`, value],
      [`payment_intent_data[metadata][${name}]`, value],
    ]),
  ] as [string, string][])
}

/** True if Stripe signed this body recently. */
export async function isSigned(body: string, header: string | null, secret: string, nowMs: number): Promise<boolean> {
  const signature = signatureOf(header)
  if (signature === null) return false
  const text = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', text.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(`${signature.time}.${body}`)))
  const hex = Array.from(mac, (byte) => byte.toString(16).padStart(2, '0')).join('')
  // Compares all signatures, so that timing does not reveal which of them matched.
  const held = signature.signatures.filter((each) => constantTimeEqual(each, hex))
  return held.length > 0 && isInTime(signature, nowMs)
}
