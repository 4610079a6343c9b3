// Stripe as documented, as far as a checkout needs it: sessions with form fields and idempotency keys, and signed
// events. Invalid requests are rejected as Stripe does.

export const SECRET_KEY = 'sk_test_of_the_stub'
export const WEBHOOK_SECRET = 'whsec_of_the_stub'

/** What happens when a card is charged. */
export type CardMood = 'good' | 'declined' | 'authentication_required' | 'slow'

interface StubCard {
  readonly id: string
  readonly customer: string
  isAttached: boolean
  mood: CardMood
}

interface StubIntent {
  id: string
  object: 'payment_intent'
  status: 'succeeded' | 'processing' | 'requires_payment_method' | 'requires_action' | 'canceled'
  amount: number
  amount_received: number
  currency: string
  customer: string
  payment_method: string
  created: number
  last_payment_error: { code: string } | null
  metadata: Record<string, string>
}

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

const CHARGE_FORM = [
  ...['amount', 'currency', 'customer', 'payment_method', 'payment_method_types[0]', 'off_session', 'confirm'],
  ...['metadata[order]', 'metadata[account]', 'metadata[top_up]'],
]
const SETUP_FORM = [
  ...['mode', 'customer_creation', 'payment_method_types[0]', 'client_reference_id', 'metadata[top_up]'],
  ...['success_url', 'cancel_url'],
]
const KEY_TTL_MS = 24 * 3_600_000

export class StripeStub {
  readonly sessions = new Map<string, StubSession>()
  readonly cards = new Map<string, StubCard>()
  readonly intents = new Map<string, StubIntent>()
  /** Accounts by their session for saving a card. */
  readonly setups = new Map<string, string>()
  /** Cards by the session on whose page they were saved. */
  readonly saved = new Map<string, string>()
  nowMs = 1_790_000_000_000
  readonly #answered = new Map<string, { form: string; answer: [number, object]; atMs: number }>()
  /** Unique, like Stripe's ids. */
  static #ids = 0

  answer(method: string, path: string, headers: Headers, body: string): [status: number, json: object] {
    if (headers.get('authorization') !== `Bearer ${SECRET_KEY}`) return refusal(401, 'invalid_request_error')
    if (method === 'POST' && headers.get('content-type') !== 'application/x-www-form-urlencoded')
      return refusal(400, 'invalid_request_error')
    const ofCards = this.#cardAnswer(method, path, headers, body)
    if (ofCards !== null) return ofCards
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

  /** Null: not a request about cards. */
  #cardAnswer(method: string, path: string, headers: Headers, body: string): [number, object] | null {
    const { pathname, searchParams } = new URL(path, 'https://stripe.example')
    const [, detached] = /^\/v1\/payment_methods\/(\w+)\/detach$/.exec(pathname) ?? []
    if (detached !== undefined) return this.#detach(detached)
    const [, list, id, act] = /^\/v1\/(payment_intents)(?:\/(\w+)(?:\/(cancel))?)?$/.exec(pathname) ?? []
    if (list !== undefined && id === undefined)
      return method === 'POST' ? this.#charge(headers.get('idempotency-key'), body) : this.#listed(searchParams)
    if (id !== undefined) return this.#intent(id, act)
    const [, session] = /^\/v1\/checkout\/sessions\/(\w+)$/.exec(pathname) ?? []
    if (session !== undefined && searchParams.has('expand[]')) return this.#setup(session)
    const isSetup = pathname === '/v1/checkout/sessions' && new URLSearchParams(body).get('mode') === 'setup'
    return isSetup ? this.#openSetup(body) : null
  }

  #openSetup(form: string): [number, object] {
    const fields = new URLSearchParams(form)
    if (JSON.stringify([...fields.keys()].sort()) !== JSON.stringify([...SETUP_FORM].sort()))
      return refusal(400, 'invalid_request_error')
    const id = `cs_test_${++StripeStub.#ids}`
    this.setups.set(id, fields.get('client_reference_id')!)
    return [200, { id, url: `https://checkout.stripe.com/c/setup/${id}` }]
  }

  #setup(session: string): [number, object] {
    const card = this.cards.get(this.saved.get(session) ?? '')
    const owner = { client_reference_id: this.setups.get(session) ?? null }
    if (card === undefined) return [200, { ...owner, status: 'open', customer: null, setup_intent: null }]
    const face = { brand: 'visa', last4: '4242', exp_month: 4, exp_year: 2028 }
    const intent = { status: 'succeeded', payment_method: { id: card.id, card: face } }
    return [200, { ...owner, status: 'complete', customer: card.customer, setup_intent: intent }]
  }

  /** The owner saves a card on the page of a session. */
  saveCard(session: string, mood: CardMood = 'good'): StubCard {
    const id = `pm_${++StripeStub.#ids}`
    const card = { id, customer: `cus_${StripeStub.#ids}`, isAttached: true, mood }
    this.cards.set(id, card)
    this.saved.set(session, id)
    return card
  }

  #detach(id: string): [number, object] {
    const card = this.cards.get(id)
    if (card === undefined || !card.isAttached) return refusal(400, 'invalid_request_error')
    card.isAttached = false
    return [200, { id, customer: null }]
  }

  #charge(key: string | null, form: string): [number, object] {
    const before = key === null ? undefined : this.#answered.get(key)
    if (before !== undefined && this.nowMs - before.atMs < KEY_TTL_MS)
      return before.form === form ? before.answer : refusal(400, 'idempotency_error')
    const answer = this.#confirm(new URLSearchParams(form))
    if (key !== null && answer[0] !== 400) this.#answered.set(key, { form, answer, atMs: this.nowMs })
    return answer
  }

  #confirm(fields: URLSearchParams): [number, object] {
    const field = (name: string) => fields.get(name) ?? ''
    if (JSON.stringify([...fields.keys()].sort()) !== JSON.stringify([...CHARGE_FORM].sort()))
      return refusal(400, 'invalid_request_error')
    const card = this.cards.get(field('payment_method'))
    if (card === undefined || !card.isAttached || card.customer !== field('customer'))
      return [400, { error: { type: 'invalid_request_error', param: 'payment_method', message: 'detached' } }]
    const amount = Number(field('amount'))
    const status = (
      {
        good: 'succeeded',
        slow: 'processing',
        declined: 'requires_payment_method',
        authentication_required: 'requires_payment_method',
      } as const
    )[card.mood]
    const code = card.mood === 'declined' ? 'card_declined' : card.mood
    const isRefused = status === 'requires_payment_method'
    const intent: StubIntent = {
      id: `pi_${++StripeStub.#ids}`,
      object: 'payment_intent',
      status,
      amount,
      amount_received: status === 'succeeded' ? amount : 0,
      currency: field('currency'),
      customer: card.customer,
      payment_method: card.id,
      created: Math.floor(this.nowMs / 1000),
      last_payment_error: isRefused ? { code } : null,
      metadata: {
        order: field('metadata[order]'),
        account: field('metadata[account]'),
        top_up: field('metadata[top_up]'),
      },
    }
    this.intents.set(intent.id, intent)
    return isRefused
      ? [402, { error: { type: 'card_error', code, payment_intent: { ...intent } } }]
      : [200, { ...intent }]
  }

  /** A slow charge ends. */
  finish(id: string, isPaid: boolean): void {
    const intent = this.intents.get(id)!
    if (intent.status !== 'processing') return
    const failed = { status: 'requires_payment_method', last_payment_error: { code: 'card_declined' } } as const
    Object.assign(intent, isPaid ? { status: 'succeeded', amount_received: intent.amount } : failed)
  }

  #listed(query: URLSearchParams): [number, object] {
    const since = Number(query.get('created[gte]'))
    const all = [...this.intents.values()].filter(
      ({ customer, created }) => customer === query.get('customer') && created >= since,
    )
    return [200, { object: 'list', data: all.reverse().slice(0, Number(query.get('limit'))) }]
  }

  #intent(id: string, act: string | undefined): [number, object] {
    const intent = this.intents.get(id)
    if (intent === undefined) return refusal(404, 'invalid_request_error', 'resource_missing')
    if (act === 'cancel') {
      if (!['requires_payment_method', 'requires_action'].includes(intent.status))
        return refusal(400, 'invalid_request_error')
      intent.status = 'canceled'
    }
    return [200, { ...intent }]
  }

  /** An event about a charge of a saved card. */
  intentEvent(id: string): string {
    return this.#event('payment_intent.succeeded', { ...this.intents.get(id) })
  }

  setupEvent(session: string, account: string): string {
    return this.#event('checkout.session.completed', { id: session, mode: 'setup', metadata: { top_up: account } })
  }

  detachedEvent(id: string): string {
    return this.#event('payment_method.detached', { id, customer: null })
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
    if (key !== null) this.#answered.set(key, { form, answer: [200, session], atMs: this.nowMs })
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
      created: Math.floor(this.nowMs / 1000),
      livemode: false,
    }
    return JSON.stringify({ ...about, type, data: { object }, pending_webhooks: 1 })
  }
}

const refusal = (status: number, type: string, code?: string): [number, object] => [
  status,
  { error: { type, code, message: 'as Stripe words it' } },
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
