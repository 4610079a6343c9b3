// Stripe as documented, as far as a checkout needs it: sessions with form fields and idempotency keys, and signed
// events. Invalid requests are rejected as Stripe does.

export const SECRET_KEY = 'sk_test_of_the_stub'
export const WEBHOOK_SECRET = 'whsec_of_the_stub'

interface StubSession {
  id: string
  object: 'checkout.session'
  url: string | null
  status: 'open' | 'complete' | 'expired'
  payment_status: 'paid' | 'unpaid'
  amount_total: number
  currency: string
  client_reference_id: string | null
  metadata: Record<string, string>
  payment_intent: string | null
}

const KNOWN =
  /^(mode|client_reference_id|success_url|cancel_url|line_items\[0\]\[(quantity|price_data\]\[(currency|unit_amount|product_data\]\[name))\]|(payment_intent_data\[)?metadata\]?\[\w+\])$/

export class StripeStub {
  readonly sessions = new Map<string, StubSession>()
  readonly #answered = new Map<string, { form: string; answer: [number, object] }>()
  /** Unique, like Stripe's ids. */
  static #ids = 0

  answer(method: string, path: string, headers: Headers, body: string): [status: number, json: object] {
    if (headers.get('authorization') !== `Bearer ${SECRET_KEY}`) return refusal(401, 'invalid_request_error')
    if (method === 'POST' && headers.get('content-type') !== 'application/x-www-form-urlencoded')
      return refusal(400, 'invalid_request_error')
    const [, id, act] = /^\/v1\/checkout\/sessions(?:\/(\w+)(?:\/(expire))?)?$/.exec(path) ?? [null]
    if (id === null) return refusal(404, 'invalid_request_error')
    if (id === undefined) return this.#create(headers.get('idempotency-key'), body)
    const session = this.sessions.get(id)
    if (session === undefined) return refusal(404, 'invalid_request_error')
    if (act === 'expire') {
      if (session.status !== 'open') return refusal(400, 'invalid_request_error')
      Object.assign(session, { status: 'expired', url: null })
    }
    return [200, session]
  }

  #create(key: string | null, form: string): [number, object] {
    const before = key === null ? undefined : this.#answered.get(key)
    if (before !== undefined) return before.form === form ? before.answer : refusal(400, 'idempotency_error')
    const fields = new URLSearchParams(form)
    const amount = Number(fields.get('line_items[0][price_data][unit_amount]'))
    const isWhole = fields.get('mode') === 'payment' && fields.get('line_items[0][quantity]') === '1' && amount >= 50
    if (!isWhole || ![...fields.keys()].every((name) => KNOWN.test(name)) || !fields.get('success_url'))
      return refusal(400, 'invalid_request_error')
    const id = `cs_test_${++StripeStub.#ids}`
    const named = [...fields].flatMap(([name, value]) => {
      const [, inner] = /^metadata\[(\w+)\]$/.exec(name) ?? []
      return inner === undefined ? [] : [[inner, value] as const]
    })
    const session: StubSession = {
      id,
      object: 'checkout.session',
      url: `https://checkout.stripe.com/c/pay/${id}`,
      status: 'open',
      payment_status: 'unpaid',
      amount_total: amount,
      payment_intent: null,
      currency: fields.get('line_items[0][price_data][currency]')!,
      client_reference_id: fields.get('client_reference_id'),
      metadata: Object.fromEntries(named),
    }
    this.sessions.set(id, session)
    if (key !== null) this.#answered.set(key, { form, answer: [200, session] })
    return [200, session]
  }

  /** An event about a session with the given fields. */
  event(type: string, sessionId: string, over: object = {}): string {
    return this.#event(type, { ...this.sessions.get(sessionId), ...over })
  }

  paid(sessionId: string, over: object = {}): string {
    const over1 = { status: 'complete', payment_status: 'paid', payment_intent: `pi_${sessionId}` }
    return this.event('checkout.session.completed', sessionId, { ...over1, ...over })
  }

  refund(sessionId: string, amount: number): string {
    const { metadata, currency } = this.sessions.get(sessionId)!
    const charge = { id: 'ch_1', object: 'charge', metadata, currency, amount_refunded: amount }
    return this.#event('charge.refunded', { ...charge, payment_intent: `pi_${sessionId}` })
  }

  #event(type: string, object: object): string {
    const about = {
      id: `evt_${++StripeStub.#ids}`,
      object: 'event',
      api_version: '2024-06-20',
      created: 1,
      livemode: false,
    }
    return JSON.stringify({ ...about, type, data: { object }, pending_webhooks: 1 })
  }
}

const refusal = (status: number, type: string): [number, object] => [
  status,
  { error: { type, message: 'as Stripe words it' } },
]

/** Signature header of a body. */
export async function signed(body: string, atSeconds: number, secret = WEBHOOK_SECRET, scheme = 'v1'): Promise<string> {
  const text = new TextEncoder()
  const hash = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', text.encode(secret), hash, false, ['sign'])
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(`${atSeconds}.${body}`)))
  const hex = Array.from(mac, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `t=${atSeconds},${scheme}=${hex}`
}
