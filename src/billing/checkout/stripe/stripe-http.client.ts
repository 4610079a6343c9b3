// Requests to Stripe's HTTP API. Invariants: the secret key is sent only to Stripe; errors contain only status, type and
// code, because Stripe's message may quote a key.

import * as z from 'zod'
import { readBoundedText } from '../../../core/bounded-text.ts'
import { err, ok, type Result } from '../../../core/result.ts'

export interface StripePorts {
  readonly secretKey: string
  readonly apiUrl: string
  readonly publicUrl: string
}

export interface StripeError {
  /** A sentence for the operator. */
  readonly text: string
  /** HTTP status; null: there was no response. */
  readonly status: number | null
  readonly type: string
  readonly code: string
  readonly param: string
  /** Id of the PaymentIntent that failed; null: none is named. */
  readonly intent: string | null
}

export const STRIPE_API = 'https://api.stripe.com'
const TIMEOUT_MS = 10_000
const RESPONSE_MAX_BYTES = 256 * 1024

const Word = z
  .string()
  .regex(/^[\w.[\]]{1,64}$/)
  .catch('')
const Refusal = z.looseObject({
  error: z.looseObject({
    type: Word.default(''),
    code: Word.default(''),
    param: Word.default(''),
    payment_intent: z
      .looseObject({ id: z.string().regex(/^pi_\w{1,250}$/) })
      .nullable()
      .catch(null)
      .default(null),
  }),
})

const unreachable: StripeError = {
  text: 'Stripe was unreachable or closed the connection',
  status: null,
  type: '',
  code: '',
  param: '',
  intent: null,
}

interface StripeRequest<T> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly schema: z.ZodType<T>
  readonly form?: URLSearchParams
  readonly idempotencyKey?: string
}

/** Never rejects, and ends within ten seconds. */
export async function callStripe<T>(
  { secretKey, apiUrl }: StripePorts,
  { method, path, schema, form, idempotencyKey }: StripeRequest<T>,
): Promise<Result<T, StripeError>> {
  try {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secretKey}`,
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      },
      ...(form && { body: form.toString() }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const read = await readBoundedText(response.body, RESPONSE_MAX_BYTES)
    const json: unknown = 'text' in read ? JSON.parse(read.text) : null
    if (!response.ok) return err(refusalOf(response.status, json))
    const answer = schema.safeParse(json)
    return answer.success ? ok(answer.data) : err({ ...unreachable, text: 'Stripe returned an undocumented response' })
  } catch {
    return err(unreachable)
  }
}

function refusalOf(status: number, json: unknown): StripeError {
  const { data } = Refusal.safeParse(json)
  const { type = '', code = '', param = '', payment_intent: intent = null } = data?.error ?? {}
  const text = `Stripe returned ${status}${type && ` (${[type, code].filter(Boolean).join(', ')})`}`
  return { text, status, type, code, param, intent: intent?.id ?? null }
}
